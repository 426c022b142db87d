"""A simulated life of a memory: generated logs, an owner's hand edits, and the account of what must still stand."""

import random
import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

from pipelines.store.item import parse_item
from pipelines.store.snapshot import read_documents

PROJECTS = ("Kestrel", "Saltmarsh", "Ledger", "Orchard")
_KINDS = ("Decision", "Fact", "Rule", "Todo", "Risk")
_THINGS = "cache queue parser login export report mailer backup search index deploy schema".split()
_VERBS = "uses keeps writes reads drops rotates signs retries splits merges caps logs".split()


@dataclass
class Owner:
    """A person who edits documents by hand and remembers what must not be lost and what must not come back.

    Args:
        root: the memory.
        chance: what decides, from a fixed seed.
        words: sentences written by hand into documents, each of which must stand for ever.
        deleted: texts of items that were deleted, none of which may come back.
    """

    root: Path
    chance: random.Random
    words: list[str] = field(default_factory=list)
    deleted: set[str] = field(default_factory=set)

    def edit(self, day: str) -> str:
        """Make one edit and return what it was."""
        documents = sorted(path for path, document in read_documents(self.root).items() if document.items)
        if not documents:
            return "nothing"
        path = self.root / self.chance.choice(documents)
        kind = self.chance.choice(("reword", "delete", "add", "prose", "move", "strike"))
        lines = path.read_text().splitlines(keepends=True)
        places = [n for n, line in enumerate(lines) if (item := parse_item(line)) and item.id and item.active]
        if kind in {"add", "prose"} or not places:
            return self._write(path, lines, day, kind)
        number = self.chance.choice(places)
        item = parse_item(lines[number])
        assert item is not None
        if kind == "delete":
            del lines[number]
            self.deleted.add(item.text)
        elif kind == "reword":
            self.words.append(f"reworded by hand on {day} {len(self.words)}")
            self.deleted.add(item.text)
            lines[number] = lines[number].replace(item.text, self.words[-1])
        elif kind == "strike":
            lines[number] = re.sub(r"^- (\[.\] )?(.*) \^", r"- \1~~\2~~ ^", lines[number])
        else:
            target = self.root / self.chance.choice(documents)
            if target != path:
                target.write_text(target.read_text().rstrip("\n") + "\n" + lines.pop(number))
        path.write_text("".join(lines))
        return kind

    def _write(self, path: Path, lines: list[str], day: str, kind: str) -> str:
        text = f"written by hand on {day} {len(self.words)}"
        self.words.append(text)
        label = "- Fact: " if kind == "add" else ""
        path.write_text("".join(lines).rstrip("\n") + f"\n\n{label}{text}\n")
        return kind


def log_of(day: str, chance: random.Random) -> str:
    """Return a generated log: labelled lines, noise, repeats, projects."""
    lines = [f"# {day}", ""]
    for number in range(chance.randint(0, 3)):
        lines += ["", f"project: {chance.choice(PROJECTS)}", ""]
        for _ in range(chance.randint(1, 4)):
            kind, thing = chance.choice(_KINDS), chance.choice(_THINGS)
            text = (
                f"the {thing} {chance.choice(_VERBS)} {chance.randint(1, 400)} entries of the {chance.choice(_THINGS)}"
            )
            lines.append(f"- {8 + number}:{chance.randint(10, 59)} {kind}: {text}")
        lines += [f"- ran the tests, {chance.randint(1, 999)} green", "## Later"]
    return "\n".join(lines) + "\n"


def said_in(log: str) -> list[tuple[str, str]]:
    """Return type and text of each labelled line of a generated log."""
    return re.findall(rf"(?m)^- \d+:\d+ ({'|'.join(_KINDS)}): (.+)$", log)


def days(count: int) -> list[str]:
    """Return the days of a simulated life."""
    return [(date(2025, 1, 1) + timedelta(days=number)).isoformat() for number in range(count)]
