"""Links by rule: an id that is named, and what only looks like one."""

from dataclasses import replace

from pipelines.extract.extraction import Candidate, Operation, OperationKind
from pipelines.night.file_items import promote
from pipelines.review.outcomes import linkable
from pipelines.review.rulings import Ruling
from pipelines.store.document import Block, Document, edited
from pipelines.store.item import Item, ItemType, Status
from tests.making import candidate

TEAMS = Item(ItemType.FACT, "Two teams already run PostgreSQL in production.", "k1111111111", since="2026-03-01")
COST = Item(ItemType.RISK, "The cloud bill grows by 12% a month.", "k2222222222", since="2026-03-01")
OLD = Item(ItemType.FACT, "The audit happens every spring.", "k3333333333", status=Status.SUPERSEDED)
ALPHA = "Projects/alpha.md"
HELD = [(ALPHA, one) for one in (TEAMS, COST, OLD)]


def test_what_is_closed_waits_or_is_private_is_shown_to_no_model() -> None:
    private = Item(ItemType.FACT, "My doctor is <private>Dr. Wu</private>.", "k5555555555")
    held = [*HELD, ("Review.md", TEAMS), ("Archives/2025.md", COST), (ALPHA, private)]
    assert [one.id for _, one in linkable(held)] == [TEAMS.id, COST.id]


# ---------------------------------------------------------------- as promoted


def ruling(kind: str, one: Candidate, number: int, *ids: str) -> Ruling:
    operation = Operation(OperationKind(kind), ids, places=one.places)
    return Ruling(operation, replace(one, id=f"n{number}", page=ALPHA, home=ALPHA))


def test_links_are_those_of_what_is_new_and_a_cycle_harms_nothing() -> None:
    document = edited(Document(ALPHA, "# Alpha\n"), add=[Block(TEAMS)])
    links = (("because", TEAMS.id), ("related", "k9999999999"))
    rulings = [
        ruling("add", replace(candidate("Buy the first."), links=links), 1),
        ruling("add", replace(candidate("Buy the second."), links=(("because", "n1"), ("because", "n9"))), 2),
        ruling("confirm", replace(candidate(TEAMS.text, ItemType.FACT), links=(("because", COST.id),)), 3, TEAMS.id),
        ruling("ignore", replace(candidate("Nothing."), links=links), 4),
    ]
    after, known = promote(rulings, {ALPHA: document})
    first, second = (one.item for one in known.added)
    assert first.links == (("because", (TEAMS.id,)),)
    assert second.links == (("because", (first.id,)),), "a temporary id means the item that it became"
    [kept] = [p.item for p in after[ALPHA].items if p.item.id == TEAMS.id]
    assert (kept.links, kept.confirmed) == ((), "2026-03-10"), "what stands gains evidence, and no link"
