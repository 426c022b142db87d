"""A closing form is read where it stands, is no item, and means one open item or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.extract.extraction import ExtractionRequest
from pipelines.extract.rules.label_reader import read_labels
from pipelines.extract.rules.labels import ClosingForm
from pipelines.extract.rules.rules_extractor import RulesExtractor
from pipelines.review.match_forms import corrected_by, corrected_text, target_of
from pipelines.store.item import ACTIVE, Item, ItemType, Status
from pipelines.store.log import parse_entries

Held = tuple[str, Item]

DAY = "2026-03-18"
GENERAL, HOME = "Areas/general.md", "Projects/harborlight.md"


def forms(text: str) -> list[ClosingForm]:
    return read_labels(parse_entries(f"Logs/{DAY}.md", DAY, text)).forms


def items(text: str) -> list[tuple[str, str]]:
    request = ExtractionRequest(DAY, parse_entries(f"Logs/{DAY}.md", DAY, text))
    return [(str(one.type), one.text) for one in RulesExtractor().extract(request).candidates]


def held(ident: str, kind: str, text: str, *, since: str = "2026-03-01", status: Status | None = None) -> Held:
    open_now = Status.OPEN if kind == "Todo" else Status.LIVE
    section = "questions" if text.endswith("?") else ""
    return HOME, Item(ItemType(kind), text, ident, status or open_now, since, page_section=section)


KNOWN = (
    held("k3f2a1bbbbb", "Todo", "Water the plants"),
    held("k3f2a2bbbbb", "Todo", "Call Anders"),
    held("k0000000001", "Todo", "Call Anders about the signed DPA by 2026-04-10"),
    held("k0000000002", "Todo", "Send the invoice to Acme"),
    held("k0000000003", "Risk", "The disk of the staging server fills up"),
    held("k0000000004", "Fact", "The office is in Bern"),
    held("k0000000005", "Fact", "The API allows 100 requests per minute"),
    held("k0000000006", "Todo", "Write the quarterly report"),
    held("k0000000007", "Todo", "Pay invoice 41"),
    held("k0000000008", "Todo", "Pay invoice 42"),
    held("k0000000009", "Todo", "Order toner", status=Status.DONE),
    held("k000000000a", "Todo", "Clean the oven", since="2026-03-19"),
    held("k000000000b", "Decision", "Use nginx as the reverse proxy"),
    held("k000000000c", "Fact", "Who signs the contract?"),
    held("k000000000d", "Todo", "Finish writing the ethics statement of the Rowing Survey paper"),
)
TEXTS = {one.id: one.text for _, one in KNOWN}


@pytest.mark.parametrize(
    "line",
    [
        "- Done: call Anders",
        "- **Done:** call Anders",
        "- **Done**: call Anders",
        "- DONE: call Anders",
        "- 10:05 done: call Anders",
        "- Todo done: call Anders",
        "- 10:05 Bea: Done: call Anders",
        "- **Bea:** Done: call Anders",
        "- 10:05 [project: Harborlight] Done: call Anders",
        "- [x] call Anders",
        "- [X] Todo: call Anders",
        "- [x] **Todo:** call Anders",
        "- call Anders - DONE",
        "- call Anders – **DONE**",
        "- call Anders — done.",
        "- call Anders (DONE)",
        "- Todo: call Anders - DONE",
        "- TODO (done): call Anders",
        "10:05 Met Bea. Done: call Anders",
        "Done: call\nAnders",
    ],
)
def test_what_is_done_closes_its_todo_and_is_no_item(line: str) -> None:
    (form,) = forms(line + "\n")
    assert (form.how, form.target.rstrip(".")) == ("done", "call Anders")
    assert target_of(form, KNOWN, GENERAL) == "k3f2a2bbbbb"
    assert items(line + "\n") == []
    assert form.place.quote in "\n".join(form.place.lines)


@pytest.mark.parametrize(
    ("line", "how", "target"),
    [
        ("Done: k3f2a1", "done", "k3f2a1bbbbb"),
        ("Done: `k3f2a1` at last", "done", "k3f2a1bbbbb"),
        ("Done: called Anders about the DPA", "done", "k0000000001"),
        ("Done: called Anders about the signed DPA, he agreed", "done", "k0000000001"),
        ("Done: sent the invoice to Acme on 3 March 2026", "done", "k0000000002"),
        ("Done: the Harborlight invoice to Acme", "done", "k0000000002"),
        ("Done: the quarterly report", "done", "k0000000006"),
        ("Done: pay invoice 41", "done", "k0000000007"),
        ("Resolved: disk of the staging server fills up", "resolved", "k0000000003"),
        ("Risk resolved: the disk of the staging server fills up", "resolved", "k0000000003"),
        ("Occurred: the disk of the staging server fills up", "occurred", "k0000000003"),
        ("Dropped: the disk of the staging server fills up", "dropped", "k0000000003"),
        ("Dropped: write the quarterly report", "dropped", "k0000000006"),
        ("No longer: the office is in Bern", "ended", "k0000000004"),
        ("No longer: nginx as the reverse proxy", "ended", "k000000000b"),
        ("Answered: who signs the contract?", "answered", "k000000000c"),
        ("Done: write the [[Quarterly]]", "done", "k0000000006"),
        ("Done: write up [[Rowing Survey]]", "done", None),
    ],
)
def test_a_form_means_its_one_item(line: str, how: str, target: str | None) -> None:
    (form,) = forms(f"- {line}\n")
    assert form.how == how
    assert target_of(form, KNOWN, GENERAL) == target
    assert items(f"- {line}\n") == []


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("the API allows 1,000 requests per minute, not 100", "k0000000005"),
        ("1,000 requests per minute, not 100", "k0000000005"),
        ("the API allows 1,000 requests per minute", "k0000000005"),
        ("the API allows 1,000 requests per minute instead of 100.", "k0000000005"),
        ("the API does not allow 100 requests per minute", None),
        ('"100 requests per minute" is wrong, 1,000 are allowed', None),
        ("the office is in Basel", "k0000000004"),
        ("use Caddy as the reverse proxy (not nginx)", "k000000000b"),
        ("the office in Bern has a new door", None),
        ("it is 1,000", None),
        ("the API allows 1,000 requests, not 900", None),
        ("the parking lot is in Thun", None),
    ],
)
def test_a_correction_replaces_the_one_item_that_it_speaks_of(line: str, target: str | None) -> None:
    (form,) = forms(f"- Correction: {line}\n")
    assert (form.how, form.target) == ("", line)
    assert corrected_by(form, KNOWN, GENERAL) == target
    assert items(f"- Correction: {line}\n") == []


@pytest.mark.parametrize(
    ("text", "line", "after"),
    [
        ("Backups are kept for 575 days", "backups are kept for 90 days, not 575", "Backups are kept for 90 days"),
        ("Backups are kept for 575 days", "kept for 90 days, not 575", "Backups are kept for 90 days"),
        ("Backups are kept for 575 days", "kept for 90 days, not 575 days", "Backups are kept for 90 days"),
        ("Backups are kept for 575 days", "backups are kept for 9 weeks, not 575 days", "Backups are kept for 9 weeks"),
        (
            "A build takes 41 min on the old runner",
            "a build takes 14 min, not 41",
            "A build takes 14 min on the old runner",
        ),
        ("The gateway listens on port 8080", "port 9090, not 8080", "The gateway listens on port 9090"),
    ],
)
def test_a_corrected_value_keeps_its_unit(text: str, line: str, after: str) -> None:
    (form,) = forms(f"- Correction: {line}\n")
    one = held("k000000000e", "Fact", text)
    assert corrected_by(form, (*KNOWN, one), GENERAL) == one[1].id
    assert corrected_text(form, text) == after


@pytest.mark.parametrize(
    "line",
    [
        "Done with the report for today.",
        "It is done: the cluster moved.",
        'She said "all good. Done: call Anders" and left.',
        "Nothing - done is better than perfect",
        "RESOLVED: call Anders",
        "[10:05] <bea> done: call Anders",
        "[10:05] <bea> resolved: call Anders",
        "```\nDone: call Anders\n```",
        "For example:\nDone: call Anders",
        "- [ ] call Anders",
        "<!-- Done: call Anders -->",
    ],
)
def test_what_only_looks_like_a_form_is_none(line: str) -> None:
    assert forms(line + "\n") == []


WORDS = sorted(
    {word for text in TEXTS.values() for word in text.split()} | {"not", "k3f2a1", "k0000", "yesterday", "41"}
)


@given(
    st.sampled_from(["Done", "Dropped", "Resolved", "Occurred", "Answered", "No longer", "Correction"]),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=9),
)
def test_a_form_never_means_what_is_closed_or_younger_and_is_never_an_item(form: str, words: list[str]) -> None:
    line = f"- {form}: {' '.join(words)}\n"
    for one in forms(line):
        found = target_of(one, KNOWN, GENERAL) if one.how else corrected_by(one, KNOWN, GENERAL)
        meant = [item for _, item in KNOWN if item.id == found]
        assert all(item.status in ACTIVE and item.since <= DAY for item in meant)
    assert items(line) == []
