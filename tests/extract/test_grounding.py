"""An item says only what its evidence says: near misses from real life, and properties of what is verbatim."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipelines.extract.extraction import Place
from pipelines.extract.grounding import ungrounded
from pipelines.store.log import Entry

DAY = "2026-03-12"  # a Thursday


def place(line: str, quote: str = "", headings: tuple[str, ...] = (), project: str = "", day: str = DAY) -> Place:
    entry = Entry(f"Logs/{day}.md", 1, 1 + line.count("\n"), line, headings, project, day=day)
    return Place(entry, 1, entry.end_line, quote or line)


def faults(
    text: str,
    line: str,
    quote: str = "",
    headings: tuple[str, ...] = (),
    project: str = "",
    context: tuple[str, ...] = (),
) -> list[str]:
    return [what for what, _ in ungrounded(text, [place(line, quote, headings, project)], context)]


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
    ("The cap is 40,000; more is refused.", "the cap is 40,000, and more is refused", ""),
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
    ("We leave on 21 May and are back on 30 May.", "we leave on 21 May and are back on the 30th", ""),
    ("Der Chor fährt am 21. Mai und ist am 30. Mai zurück.", "wir fahren am 21. Mai, zurück sind wir am 30.", ""),
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
    ("We leave on 21 May and are back on 31 May.", "we leave on 21 May and are back on the 30th", "a date"),
    ("Never deploy on Mondays.", "never deploy on Fridays", "a date"),
    ("Bob is the owner of the DNS zone.", "Anna is the owner of the DNS zone", "a name"),
    ("The zone belongs to Bob.", "the zone belongs to Anna", "a name"),
    ("Ask Bob Meier.", "ask Anna Meier", "a name"),
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
    assert faults("We deploy on Fridays.", "We will never deploy on Fridays. So be it.", "deploy on Fridays") != []


def test_another_word_for_not_keeps_the_sense() -> None:
    line = "the API cannot accept more than 4 hours, says Tomasz, not to me"
    assert faults("The API does not accept more than 4 hours.", line) == []
    assert faults("The API accepts more than 4 hours.", line) == ["a negation"]


def test_what_stands_above_may_be_used() -> None:
    assert faults("Kestrel uses SQLite.", "uses SQLite", headings=("Kestrel",)) == []
    assert faults("Two services use SQLite.", "services use SQLite", headings=("2 services",)) == []
    assert faults("The audit is on 2026-05-04.", "audit is fixed", headings=("4 May",)) == []
    assert faults("Never eat there.", "eat there", headings=("What we never do",)) == []


SHOWN = ("Playtests are on Thursdays at 17:00 at Café Wahlen.", "Anna Meier keeps 512 bees.", "Kestrel")


def test_names_may_come_from_all_that_was_shown_and_values_from_what_is_on_the_same_matter() -> None:
    def told(text: str, line: str) -> list[str]:
        return [what for what, _ in ungrounded(text, [place(line)], shown=SHOWN)]

    assert told("Playtests are on Wednesdays at 17:00 at Café Wahlen.", "playtest: wednesdays, same hour") == []
    assert told("Playtests are on Wednesdays at 17:00, not 19:00.", "playtest: wednesdays, same hour, not 19:00") == []
    assert told("Playtests are on Wednesdays at 17:00 at the café.", "playtest: wednesdays, not 19:00") == []
    assert faults("Playtests are on Wednesdays at 17:00 at the café.", "playtest: wednesdays, not 19:00") == [
        "a number"
    ]
    assert told("Playtests cost 512 euros.", "playtests cost 300 euros") == ["a number"]
    assert faults("Playtests are on Mondays.", "playtest: as always") == ["a date"]
    assert told("Playtests at Café Wahlen are on Thursdays.", "playtest: as always") == []
    assert told("Ask Anna Meier, not Bob.", "ask her, not Bob") == []
    assert told("Ask Karl.", "ask Bob") == ["a name"]
    assert told("Kestrel is not Bob's.", "it's not Bob's") == []


def test_a_value_that_replaces_nothing_is_for_the_second_reader() -> None:
    assert faults("Karl reworks the screen within two weeks.", "karl reworks the screen, this week + next") == []
    assert faults("Karl reworks the screen within forty weeks.", "karl reworks the screen in 2 weeks") == ["a number"]
    assert faults("Karl pays by 15 October.", "karl pays by the middle of October") == []
    assert faults("Karl pays by 15 November.", "karl pays by the middle of October") == ["a date"]
    assert faults("Karl keeps it at −20 °C.", "karl keeps it at minus twenty") == []
    assert faults("Karl asks for the printer by 2 October.", "the printer is asked for by Karl until 2 October") == []
    assert faults("Claims are sent in ten days.", "claims are sent in ten days, otherwise they are refused") == []
    assert faults("The track on Google Play is closed.", "track on play is closed") == []
    assert faults("The track on Google Play is closed.", "the track on Steam is closed") != []
    assert faults("Read docs/design.md.", "read the docs") == ["a name"]


@pytest.mark.parametrize("text", ["Karl keeps 7 bees.", "Karl keeps seven bees.", "Karl keeps bees with Osprey."])
def test_an_update_has_no_value_of_its_own(text: str) -> None:
    old = ["Karl keeps wasps."]
    assert ungrounded(text, [place("bees, not wasps")], old) == []
    assert ungrounded(text, [place("bees, not wasps")], old, is_update=True) != []
    assert ungrounded(text, [place("bees, not wasps")], ["Karl keeps 7 wasps with Osprey."], is_update=True) == []


def test_a_capital_makes_no_name_in_german() -> None:
    line = "die neue Heizung wird von der Firma Kofler im Mai eingebaut, nicht im April"
    assert faults("Die Wärmepumpe wird im Mai durch die Firma Kofler eingebaut.", line) == []
    assert faults("Die Heizung wird im Juni von der Firma Kofler eingebaut.", line) == []
    assert "a name" in faults("Die Heizung wird im Mai durch die Firma BVT-7 eingebaut.", line)
    assert faults("Die Heizung wird im Mai 2028 von der Firma Kofler eingebaut.", line) == ["a date"]
    assert "a name" in faults("Bob will have the boiler fitted.", "Kofler will have the boiler fitted")


def test_articles_that_are_english_words_tell_german_too() -> None:
    assert faults("Kofler hat die Wärmepumpe.", "hat Kofler die Heizung") == []


def test_if_then_else_is_no_condition() -> None:
    line = "Models are a costly `if/then/else`: use no models for fixed tasks."
    assert faults("Use no models for fixed tasks.", line) == []
    assert faults("Use no models.", "Use no models if you can help it.") == ["a condition"]


def test_an_ordinal_that_begins_a_sentence_is_no_name() -> None:
    line = "The pump is painted by Bob before the gate."
    assert faults("Next is the paint of the pump.", line) == []
    assert faults("Karl is to paint the pump before the gate.", line) == ["a name"]


def test_the_month_of_may_is_no_condition() -> None:
    line = "From 15 May on the harbour office answers until noon."
    assert faults("The harbour office answers until noon.", line) == []
    assert faults("Move it to the yard.", "May move it to the yard.") == ["a condition"]
    assert faults("Karl moves it to the yard.", "karl may move it to the yard") == ["a condition"]


def test_words_of_its_own_may_keep_the_sense_and_only_a_reader_can_tell() -> None:
    assert faults("Avoid deploying on Fridays.", "never deploy on Fridays") == []
    assert faults("Karl measures the latency by 9 June.", "karl to measure the latency until 9 june") == []
    assert faults("After 90 seconds without a touch it goes back.", "idle for 90 s, then back") == []


def test_the_words_are_told_to_the_model() -> None:
    assert ungrounded("Ask Bob.", [place("ask Anna")]) == [("a name", "Bob")]
    [(what, words)] = ungrounded("Ask Anna.", [place("ask Anna unless it rains")])
    assert what == "a condition"
    assert "unless" in words


def test_what_stands_beside_may_be_used_and_need_not() -> None:
    said = ["Mara", "Shall Bob not deploy 3 services on 4 May, if Ines agrees?"]
    assert faults("Mara asks Bob to deploy 3 services on 2026-05-04.", "I ask him to deploy", context=tuple(said)) == []
    assert faults("Mara asks Ben to deploy.", "I ask Ines to deploy", context=tuple(said)) == ["a name"]
    old = ("Bookings are never kept for more than 30 days.",)
    assert faults("Bookings are never kept for more than 60 days.", "make it 60 days", context=old) == []
    assert faults("Bookings are never kept for more than 90 days.", "make it 60 days", context=old) == ["a number"]


def test_a_question_and_its_answer_ground_an_item_together() -> None:
    asked, answer = (
        place("Isn't the port of Kestrel 8080, or maybe 8081?"),
        place("8081, until Friday", day="2026-03-13"),
    )
    assert ungrounded("Kestrel's port is 8081 until 2026-03-20.", [asked, answer]) == []
    assert ungrounded("Kestrel's port is 8082 until Friday.", [asked, answer]) == [("a number", "8082")]
    assert [what for what, _ in ungrounded("Kestrel's port is 8081.", [asked, answer])] == ["a condition"]
    asked, answer = place("Do we ship tomorrow?"), place("yes, we do, as I said yesterday", day="2026-03-14")
    assert ungrounded("It ships on 2026-03-13.", [asked, answer]) == []
    assert ungrounded("It ships on 2026-03-16.", [asked, answer]) == [("a date", "2026-03-16")]
    both = [place("Ship it if Ines agrees"), place("yes, but never on Fridays")]
    assert [what for what, _ in ungrounded("Ship it.", both)] == ["a negation", "a condition"]
    assert ungrounded("Ship it if Ines agrees, but not on Fridays.", both) == []


def test_a_condition_counts_for_the_clause_that_it_limits() -> None:
    line = "We use Hugo. If it breaks, ask Bob. The backup runs on Mondays, unless Ines is away."
    assert faults("Hugo is used.", line) == []
    assert faults("Hugo is used.", line, "We use Hugo.") == []
    assert faults("Ask Bob.", line) == ["a condition"]
    assert faults("The backup runs on Mondays.", line) == ["a condition"]
    assert faults("The backup runs on Mondays.", line, "The backup runs on Mondays") == ["a condition"]
    assert faults("Hugo is used, and the backup runs on Mondays unless Ines is away.", line) == []


def test_a_condition_in_another_clause_limits_nothing() -> None:
    line = "Reisch rang (Frau Dobler, 555 880, does the bookings): the bus has 19 seats, the van is in repair till May."
    assert faults("Frau Dobler does the bookings at Reisch, 555 880.", line) == []
    assert faults("The bus has 19 seats.", line) == []
    assert faults("The van is in repair.", line) == ["a condition"]
    assert faults("The van leaves at noon.", "the van leaves at noon, but only if Ines agrees") != []
    assert faults("The van leaves at noon.", "the bus stays, and unless it rains, the van leaves at noon") != []


SMALL = """about after again all also am an and any are as at because been before being both but by can could did do
    does each every few for from has have he her him his how if in into is it its just many might more most much must my
    neither never no nor not of off on once only or other otherwise our out over own per perhaps rather same shall she
    should since so some still such than that the their them then there these they this those though through thus till
    to too under unless until upon us very was we were what when whether which while who whose why with within without
    would yet you""".split()


@pytest.mark.parametrize("form", ["{}", "anna {} here", "{} anna went.", "{} is here.", "Go {} here.", "{} Anna went."])
def test_a_small_word_is_no_number_and_no_date_and_no_name(form: str) -> None:
    for word in SMALL:
        for said in (word, word.capitalize()):
            found = ungrounded(form.format(said), [place("anna went here")])
            assert not {what for what, _ in found} & {"a number", "a date", "a name"}, (found, said)


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
