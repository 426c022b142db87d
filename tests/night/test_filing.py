"""Filing: an item goes to the document that its entry names, else where its words belong."""

from dataclasses import replace
from typing import Any

import pytest

from pipelines.extract.extraction import Candidate
from pipelines.night.file_items import (
    Catalog,
    document_title,
    filed_candidates,
    home_of,
    named_document,
    new_document,
)
from pipelines.review.trust import TrustGate
from pipelines.store.document import Document
from pipelines.store.evidence import render_pointer
from pipelines.store.item import Confidence, ItemType, Trust
from pipelines.store.session_state import NO_SEALS
from tests.conftest import Memory
from tests.making import candidate, entry
from tests.reviewing import Reader, curate, item, log, reply

ALPHA = Document(
    "Projects/alpha-site.md",
    "---\ntitle: Alpha Site\n---\n# Alpha Site\n\n- Decision: host the gallery on Fastmail ^k1111111111\n",
)
NOTE = Document("Resources/pier.md", "# Pier\n\nThe pier has nine piles.\n")
TOOLS = Document("Resources/tools.md", "# Tools\n\n- Fact: the saw is blunt ^k4444444444\n")
GARDEN = Document("Areas/garden.md", "# Garden\n\n- Fact: tomatoes need trellis wire ^k2222222222\n")
USER = Document("USER.md", "# User\n\n- Name: Mara Lind\n")
MEMORY = Document("MEMORY.md", "# Memory\n")
CATALOG = Catalog({d.path: d for d in (ALPHA, GARDEN, USER, MEMORY, NOTE, TOOLS)})


@pytest.mark.parametrize(
    ("home", "path"),
    [
        (entry("x", project="Alpha Site"), "Projects/alpha-site.md"),
        (entry("x", project="alpha-site"), "Projects/alpha-site.md"),
        (entry("x", project="Brand New"), "Projects/brand-new.md"),
        (entry("x", project="../../etc/passwd"), "Projects/etc-passwd.md"),
        (entry("x", project="Garden"), "Areas/garden.md"),
        (entry("x", headings=("Work", "Alpha site")), "Projects/alpha-site.md"),
        (entry("x", headings=("Alpha site", "Garden")), "Areas/garden.md"),
        (entry("x", tags=("garden",)), "Areas/garden.md"),
        (entry("x", tags=("tools",)), "Resources/tools.md"),
        (entry("x", headings=("Pier",)), ""),
        (entry("x", project="Pier"), "Projects/pier.md"),
        (entry("x", headings=("Introductions",), tags=("brand-new",)), ""),
    ],
)
def test_what_an_entry_names(home: object, path: str) -> None:
    assert named_document(candidate("x", of=home), CATALOG) == path  # type: ignore[arg-type]  # an Entry, as listed above


def test_a_model_chooses_from_the_closed_list_only() -> None:
    assert named_document(replace(candidate("x"), document="Areas/garden"), CATALOG) == "Areas/garden.md"
    assert named_document(replace(candidate("x"), document="../evil"), CATALOG) == ""
    assert named_document(replace(candidate("x"), new_project="New One"), CATALOG) == "Projects/new-one.md"


def test_a_model_that_has_read_a_session_chooses_over_the_folder_in_which_that_ran() -> None:
    told = "- 10:00 **user:** it opens on the 18th"
    pointer = render_pointer("Sessions/2026-03-10/codex-1.jsonl", 3, "0123abcd")
    for line, path in ((f"{told} {pointer}", ALPHA.path), (told, "Projects/brand-new.md")):
        home = entry(line, project="Brand New")
        assert named_document(replace(candidate("x", of=home), document="Projects/alpha-site"), CATALOG) == path


@pytest.mark.parametrize(
    ("title", "path"),
    [
        ("alpha-SITE", "Projects/alpha-site.md"),
        ("Site: Alpha", "Projects/alpha-site.md"),
        ("Alpha Site 2", "Projects/alpha-site-2.md"),
        ("Alpha", "Projects/alpha.md"),
    ],
)
def test_a_proposed_project_that_exists_in_other_words_order_is_that_one(title: str, path: str) -> None:
    assert named_document(replace(candidate("x"), new_project=title), CATALOG) == path
    own = candidate("x", of=entry("x", project="Site: Alpha"))
    assert named_document(own, CATALOG) == "Projects/site-alpha.md"  # who keeps the journal names what they mean


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("C# client", "C# client"), ("WOW#1", "WOW#1"), ("Mara's garden", "Mara's garden"), ("# Pea", "Pea"),
        ("Pea #", "Pea"), ("'Pea'", "Pea"), ('"Pea" <!-- k1 -->', "Pea k1"), ("Pea `x` #y", "Pea x y"),
    ],
)  # fmt: skip
def test_a_title_keeps_the_signs_of_its_words(name: str, title: str) -> None:
    assert document_title(name).replace("!-- ", "").replace(" --", "") == title
    page = new_document("Projects/x.md", name)
    assert (page.title, page.front.faults) == (document_title(name), ())


@pytest.mark.parametrize(
    ("kind", "text", "path"),
    [
        (ItemType.DECISION, "The Alpha site goes live in May", "Projects/alpha-site.md"),
        (ItemType.FACT, "Mara works from Bern", "USER.md"),
        (ItemType.FACT, "Prefers short mails", "USER.md"),
        (ItemType.FACT, "Miguel also prefers short mails", "Areas/general.md"),
        (ItemType.RULE, "Never push on Fridays", "MEMORY.md"),
        (ItemType.FACT, "The office door code changes monthly", "Areas/general.md"),
        (ItemType.DECISION, "Buy a new kettle", "Areas/general.md"),
        (ItemType.TODO, "Call the bank", "Areas/general.md"),
    ],
)
def test_where_words_lead(kind: ItemType, text: str, path: str) -> None:
    assert home_of(kind, text, Confidence.HIGH, CATALOG) == path


@pytest.mark.parametrize("told", ["My name is Mara Lind.", "The user's name is Mara Lind", "Name: Mara Lind"])
def test_an_item_tells_whose_memory_it_is(told: str) -> None:
    user = Document("USER.md", f"# User\n\n- Name:\n\n## Facts\n\n- Fact: {told} ^k3333333333\n")
    catalog = Catalog({d.path: d for d in (user, MEMORY)})
    assert home_of(ItemType.FACT, "Mara wants answers in English", Confidence.HIGH, catalog) == "USER.md"
    assert home_of(ItemType.FACT, "Anders wants answers in English", Confidence.HIGH, catalog) == "Areas/general.md"


@pytest.mark.parametrize(
    "told", ["- Name:", "- Name: <!-- who? -->", "- ~~Fact: My name is Mara Lind~~", "Ask what my name is"]
)
def test_nobody_is_named_where_no_line_says_so(told: str) -> None:
    catalog = Catalog({"USER.md": Document("USER.md", f"# User\n\n{told}\n- Role: cook\n")})
    assert catalog.person == ""


def test_what_another_said_goes_into_a_new_project_only_where_own_words_have_made_it() -> None:
    told = replace(candidate("the probe is off"), new_project="Eelgrass")
    own = replace(candidate("the probe is new"), new_project="Eelgrass")

    class Gate(TrustGate):
        def look(self, candidate: Candidate) -> Candidate:
            source = "" if candidate.text == own.text else "Mateo"
            return replace(candidate, trust=Trust.EXTERNAL if source else Trust.SELF, source=source)

    def places(*candidates: Candidate) -> list[str]:
        gate = Gate((), NO_SEALS, "self", frozenset())
        return [one.home for one in filed_candidates(candidates, CATALOG, gate)[0]]

    page = "Projects/eelgrass.md"
    assert places(told) == ["Areas/general.md"]
    assert places(own, told) == [page, page]
    assert places(told, own) == ["Areas/general.md", page]


def test_a_model_s_new_page_is_no_note_of_a_person(memory: Memory) -> None:
    memory.write(NOTE.path, NOTE.text)
    memory.write("Logs/2026-03-12.md", "# 2026-03-12\n\n- The pier is sold.\n- The crane goes with it.\n")
    model = Reader(
        lambda day: reply(*(item("Fact", one["text"][2:], one, new_page="project: Pier") for one in day["entries"]))
    )
    curate(memory, model)
    assert memory.read(NOTE.path) == NOTE.text
    assert "- Fact: The pier is sold. ^k" in memory.read("Projects/pier.md")
    assert model.shown[0]["documents"]
    assert "pier" not in [one["id"] for one in model.shown[0]["documents"]]


def test_a_model_files_in_a_note_only_where_something_was_filed_before(memory: Memory) -> None:
    shown: list[set[str]] = []

    def read(day: dict[str, Any]) -> dict[str, Any]:
        shown.append({one["id"] for one in day["documents"]})
        return reply()

    memory.write("Resources/tools.md", "# Tools\n\n- Rule: Oil the saw.\n")
    log(memory, "we talked", day="2026-03-16")
    curate(memory, Reader(read), "2026-03-17T02:00+00:00")
    memory.write("Logs/2026-03-17.md", "# 2026-03-17\n\n## Tools\n\n- Fact: The saw is blunt.\n")
    memory.curate("run", "--provider", "rules", "--now", "2026-03-18T02:00")
    log(memory, "we talked", day="2026-03-18")
    curate(memory, Reader(read), "2026-03-19T02:00+00:00")
    assert ["tools" in one for one in shown] == [False, True]
