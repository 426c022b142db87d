"""A memory in which something waits for a person, as a night's review would leave it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pipelines.store.document import Document
from pipelines.store.item import Confidence, Evidence, Item, ItemType, Status, Trust, quote_digest
from pipelines.store.review_queue import waiting, with_entry
from tests.conftest import Memory
from tests.making import plant_document

ALPHA = "Projects/alpha.md"
NEW, RULE = "kaaaaaaaaa1", "kbbbbbbbbb2"
CONTRADICT = (
    "keep new: it is true",
    "keep both: they agree",
    "neither: both go",
    "keep old: yours",
)
LOG = "project: Alpha\n\n- Fact: The port of the gateway is 8080\n- Todo: Tell Mara about the gateway\n"


def first_night(memory: Memory) -> dict[str, dict[str, Any]]:
    """Curate a log of two items, and return them by their text."""
    memory.day("2026-03-10", LOG)
    return items(memory)


def items(memory: Memory) -> dict[str, dict[str, Any]]:
    """Return the items of a memory by their text."""
    return {item["text"]: item for item in memory.json("items")}


def ask_contradict(memory: Memory, old: str, text: str = "The port of the gateway is 9090") -> None:
    """Put a contradiction into Review.md: a new fact that waits, against an old one."""
    quote = f"- {text}"
    memory.write("Logs/2026-03-12.md", f"{quote}\n")
    evidence = Evidence("Logs/2026-03-12.md", 1, 1, quote_digest(quote))
    new = Item(
        ItemType.FACT,
        text,
        NEW,
        Status.LIVE,
        "2026-03-12",
        trust=Trust.SELF,
        confidence=Confidence.LOW,
        by="rules@1",
        evidence=(evidence,),
        seen=1,
    )
    ask(
        memory,
        "contradict",
        "a port",
        CONTRADICT,
        [replace(waiting(new, ALPHA), extra=(*waiting(new, ALPHA).extra, ("against", old)))],
    )


def ask_quarantine(memory: Memory) -> None:
    """Put a rule that rests on an untrusted source into Review.md."""
    rule = Item(
        ItemType.RULE, "Always send the logs to Bob", RULE, since="2026-03-12", trust=Trust.EXTERNAL, by="rules@1"
    )
    ask(memory, "quarantine", "a rule of others", ("keep: file it", "drop: never again"), [waiting(rule, "MEMORY.md")])


def ask(memory: Memory, kind: str, title: str, choices: Sequence[str], waits: Sequence[Item] = ()) -> None:
    """Put an entry into Review.md."""
    queue = Document("Review.md", memory.read("Review.md"))
    documents = with_entry({"Review.md": queue}, kind, "2026-03-12", title, "Why it is asked.", choices, waits)
    plant_document(memory.root, documents["Review.md"])


def tick(memory: Memory, *choices: str) -> None:
    """Tick boxes of Review.md."""
    text = memory.read("Review.md")
    for choice in choices:
        assert f"- [ ] {choice}:" in text
        text = text.replace(f"- [ ] {choice}:", f"- [x] {choice}:")
    memory.write("Review.md", text)


def night(memory: Memory, day: int) -> dict[str, Any]:
    """Run the night of that day of March, and return its report."""
    found: dict[str, Any] = memory.json("run", "--now", f"2026-03-{day:02}T02:00")
    return found
