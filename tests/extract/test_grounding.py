"""An item says only what its evidence says: near misses from real life, and properties of what is verbatim."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipelines.extract.grounding import ungrounded
from pipelines.store.log import Entry

DAY = "2026-03-12"  # a Thursday


def faults(
    text: str, line: str, quote: str = "", headings: tuple[str, ...] = (), project: str = "", day: str = DAY
) -> list[str]:
    lines = line.split("\n")
    entry = Entry("Logs/2026-03-12.md", 1, len(lines), line, headings, project)
    return [what for what, _ in ungrounded(text, quote or line, lines, entry, day)]


SAID = [
    # as it stands, shortened, with what is known from above
    ("Harbour is built with Terraform, not Pulumi.", "- 09:14 We go with **Terraform**, not Pulumi.", "Harbour"),
    ("Terraform is used.", "- 09:14 We go with **Terraform**, not Pulumi.", ""),
    ("The readings go into PostgreSQL 17, one table a year.", "readings go into PostgreSQL 17, a table a year", ""),
    ("Mara wants short answers.", "<Mara> I want short answers", ""),
    ("Use `uv.lock`.", "use the file uv.lock", ""),
    ("Deployments run via Ansible.", "we deploy via ansible", ""),
    ("Zürich’s office pays the bill.", "the Zurich office pays the bill", ""),
    # numbers and times in other forms
    ("Three teams run it.", "3 teams run it", ""),
    ("21 teams run it.", "twenty-one teams run it", ""),
    ("The cap is 10,000 rows.", "cap: 10k rows", ""),
    ("The cap is 10000 rows.", "the cap is 10,000 rows", ""),
    ("Budget is $1.2 million.", "budget: $1.2m", ""),
    ("The sprint takes 14 days.", "the sprint takes two weeks", ""),
    ("The 3rd one failed.", "the third one failed", ""),
    ("Releases need Node 20.", "releases need node v20", ""),
    ("Never deploy after 16:00.", "never deploy after 4pm", ""),
    ("Do not deploy after 4 pm.", "don't deploy after 16:00", ""),
    ("Standup is at 9:30.", "standup 09:30", ""),
    # dates that must be resolved against the day of the log
    ("The contract ends on 2026-03-13.", "The contract ends tomorrow.", ""),
    ("The contract ended on 11 March 2026.", "The contract ended yesterday.", ""),
    ("The review is on Friday, 2026-03-13.", "review on Friday", ""),
    ("Send it by 2026-03-26.", "send it in two weeks", ""),
    ("Send it by 2026-03-31.", "send it by the end of the month", ""),
    ("Renew by 2026-04-01.", "renew by April 1st", ""),
    ("Renew by 1 April 2026.", "renew by 1.4.", ""),
    ("The fair is on 2026-03-15.", "the fair is on the 15th", ""),
    ("On 2026-03-12 the team chose Hugo.", "we chose Hugo", ""),
    ("On 2026-03-12 it was agreed to renew by 2026-05-02.", "agreed: renew by May 2", ""),
    ("Launch in April 2026.", "launch next month", ""),
    ("Station 3 may fail in winter.", "station 3 may fail in winter", ""),
    # negations in other words
    ("Do not deploy on Fridays.", "Never deploy on a Friday", ""),
    ("Friday deployments are forbidden.", "Never deploy on a Friday", ""),
    ("Nobody may push after noon.", "pushing after noon is prohibited", ""),
    ("We move to Hugo.", "Jekyll doesn't scale, so we move to Hugo", ""),
]


@pytest.mark.parametrize(("text", "line", "project"), SAID)
def test_what_the_lines_say_is_grounded(text: str, line: str, project: str) -> None:
    quote = "we move to Hugo" if "Hugo" in line and "scale" in line else ""
    quote = quote or ("We go with Terraform" if text == "Terraform is used." else "")
    assert faults(text, line, quote, project=project) == []


NEAR_MISSES = [
    ("Four teams run it.", "three teams run it", "a number"),
    ("The port is 8081.", "the port is 8080", "a number"),
    ("The cap is 100 rows.", "the cap is 1,000 rows", "a number"),
    ("The limit is 5 degrees.", "the limit is -5 degrees", "a number"),
    ("Use version 1.2.", "use version 1.2.3", "a number"),
    ("Use Python 3.1.", "use Python 3.10", "a number"),
    ("The backup takes 3 weeks.", "the backup takes 3 days", "a number"),
    ("Never deploy after 17:00.", "never deploy after 4pm", "a number"),
    ("Deploy at 16:00.", "deploy at 04:00", "a number"),
    ("The server is 10.0.0.2.", "the server is 10.0.0.1", "a number"),
    ("The contract ends on 2026-03-14.", "The contract ends tomorrow.", "a date"),
    ("The certificate expires on 2026-03-12.", "The certificate expires on 2026-05-02", "a date"),
    ("Renew by 2027-04-02.", "renew by April 1st", "a date"),
    ("Renew in April.", "renew in May", "a date"),
    ("Never deploy on Mondays.", "never deploy on Fridays", "a date"),
    ("Bob is the owner of the DNS zone.", "Anna is the owner of the DNS zone", "a name"),
    ("Bob prefers mornings.", "Anna prefers mornings", "a name"),
    ("The zone belongs to Bob.", "the zone belongs to Anna", "a name"),
    ("Ask Anna Meier.", "ask Anna", "a name"),
    ("Use JavaScript.", "use Java", "a name"),
    ("Set max_tokens.", "set max_retries", "a name"),
    ("Mail a@example.org.", "mail b@example.org", "a name"),
    ("The bucket is in eu-west-2.", "the bucket is in eu-west-1", "a number"),
    ("Read docs/design.md.", "read docs/models.md", "a name"),
    ("Never deploy on Fridays.", "deploy on Fridays", "a negation"),
    ("Deploy on Fridays.", "never deploy on Fridays", "a negation"),
    ("We use the cache with TLS.", "we use the cache without TLS", "a negation"),
    ("The gateway is reachable.", "the gateway isn't reachable", "a negation"),
    ("Stop the queue.", "never stop the queue", "a negation"),
    ("Never stop the queue.", "stop the queue", "a negation"),
]


@pytest.mark.parametrize(("text", "line", "what"), NEAR_MISSES)
def test_a_near_miss_is_told(text: str, line: str, what: str) -> None:
    assert what in faults(text, line)


def test_a_negation_cannot_be_left_out_of_the_quote() -> None:
    line = "We will never, as agreed, deploy on Fridays. Tests run on Mondays."
    assert faults("Tests run on Mondays.", line, "Tests run on Mondays") == []
    assert faults("We deploy on Fridays.", "we never deploy on Fridays", "deploy on Fridays") == ["a negation"]
    assert faults("We deploy on Fridays.", line, "deploy on Fridays") == ["a negation"]


def test_a_name_may_stand_above_and_a_number_may_not() -> None:
    assert faults("Kestrel uses SQLite.", "uses SQLite", headings=("Kestrel",)) == []
    assert faults("Kestrel uses SQLite.", "uses SQLite", headings=("Osprey",)) == ["a name"]
    assert faults("Two services use SQLite.", "services use SQLite", headings=("2 things",)) == ["a number"]
    assert faults("Never eat there.", "eat there", headings=("What we never do",)) == []


def test_the_words_are_told_to_the_model() -> None:
    [one] = ungrounded("Ask Bob.", "ask Anna", ["ask Anna"], Entry("Logs/2026-03-12.md", 1, 1, "ask Anna"), DAY)
    assert one == ("a name", "Bob")


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=120)


@given(WORDS)
def test_what_is_verbatim_is_never_called_a_number_or_a_date_that_is_not_there(text: str) -> None:
    line = " ".join(text.split())
    assert "a negation" not in faults(line, line)


@given(st.lists(st.sampled_from([text for text, _, _ in SAID] + [line for _, line, _ in NEAR_MISSES]), min_size=1))
def test_what_is_verbatim_is_grounded(sentences: list[str]) -> None:
    line = " ".join(sentences)
    assert faults(line, line) == []


@given(st.dates(date(1990, 1, 1), date(2090, 1, 1)), st.integers(-400, 400))
def test_a_day_is_the_same_in_every_form_and_another_in_none(day: date, off: int) -> None:
    forms = [f"{day:%Y-%m-%d}", f"{day.day} {day:%B} {day.year}", f"{day:%B} {day.day}, {day.year}"]
    other = day + timedelta(off)
    for said in forms:
        line = f"it ends on {said}"
        assert all(faults(f"It ends on {form}.", line) == [] for form in forms)
        if off:
            assert "a date" in faults(f"It ends on {other:%Y-%m-%d}.", line)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_number_is_itself_with_or_without_groups(number: int, other: int) -> None:
    assume(number != other and other not in range(1900, 2100))
    assert faults(f"The cap is {number:,} rows.", f"the cap is {number} rows") == []
    assert faults(f"The cap is {number} rows.", f"the cap is {number:,} rows") == []
    assert faults(f"The cap is {other} rows.", f"the cap is {number} rows") == ["a number"]


@given(WORDS, WORDS, WORDS)
def test_any_text_is_judged(text: str, line: str, quote: str) -> None:
    faults(text, line, quote)
