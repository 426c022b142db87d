"""What the tools of the MCP server answer: text for a model, bounded, with path:line and date on everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.api import Memory
from pipelines.memory.pointers import without_pointer
from pipelines.memory.secrets import veil

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.api import Answer
    from pipelines.beliefs.holdings import Holding
    from pipelines.beliefs.why import Witness
    from pipelines.index.hits import Hit

MOST_HITS: Final = 50
MOST_ANSWER: Final = 20_000
"""Characters of an answer at most; a client shows a model no more of it anyway."""
LONGEST_HIT: Final = 800
MOST_QUERY: Final = 2_000
MOST_TEXT: Final = 4_000
MOST_NAME: Final = 500
MOST_ID: Final = 80
BUDGETS: Final = (300, 8_000)
_MOST_STEPS: Final = 30


def search(root: Path | None, query: str, limit: int, kind: str, project: str, days: tuple[str, str]) -> str:
    """Return what a search finds: each hit with its place, its day and whose word it is.

    Args:
        root: the memory, or None for the one that the environment or the working directory names.
        query: the question.
        limit: how many hits at most.
        kind: only items of this type, or an empty string.
        project: only this project's, or an empty string.
        days: the first day, and the first day that is too late; empty strings for no bound.

    Raises:
        CurateError: whatever `pipelines.api.Memory` raises; so do the functions below.
    """
    from pipelines.index.usage import record_uses  # noqa: PLC0415  the other tools need no index

    types, memory = (kind,) if kind else (), Memory(root)
    answer = memory.search(query, limit=limit, types=types, project=project, since=days[0], before=days[1])
    record_uses(memory.root, [hit.known_as for hit in answer.hits])
    return _told(answer)


def read(root: Path | None, name: str, start: int | None, end: int | None) -> str:
    """Return lines of one file, each with its number."""
    passage = Memory(root).read(name, start, end)
    head = f"{passage.path}: {passage.total_lines:,} lines"
    if not passage.lines:
        return f"{head}; there is no line {passage.start_line:,}."
    head += f", here {passage.start_line:,} to {passage.end_line:,}"
    lines = [f"{number}: {line}" for number, line in enumerate(passage.lines, passage.start_line)]
    if passage.end_line < passage.total_lines:
        lines.append(f"(More follows: ask with start_line={passage.end_line + 1}.)")
    return "\n".join([f"{head}.", *lines])


def context(root: Path | None, project: str, query: str, budget: int) -> str:
    """Return what a session should start with."""
    return Memory(root).context(budget=budget, project=project, query=query)


def log(root: Path | None, text: str, project: str) -> str:
    """Append a line to today's log and say where it stands."""
    written = Memory(root).log(text, project=project)
    return f"Written at {written.path}:{written.line} ({written.day}): {written.text}"


def why(root: Path | None, item: str) -> str:
    """Return why an item is believed: the words that it rests on, each with its place, who brought it and when."""
    told = Memory(root).why(item)
    one = told.item
    days = f"since {one.since}" if one.since else "of no known day"
    days += f", until {one.until}" if one.until else ""
    days += f", confirmed {one.confirmed}" if one.confirmed else ""
    lines = [
        f"{_place(told.holding)} | {days} | {one.status}, trust {one.trust}, confidence {one.confidence}, {one.id}"
    ]
    lines.append(f"{one.type}: {_short(one.text)}")
    lines += [line for witness in told.witnesses for line in _witness(witness)]
    lines += [] if told.witnesses else ["It names no evidence."]
    lines.append(f"Extracted by {told.model} {told.prompt}".rstrip() if told.model else "Written by a person.")
    if told.brought:
        lines.append(f"Brought on {told.brought.day} by commit {told.brought.commit[:10]}: {told.brought.subject}")
    for step in (*told.grounds, *told.superseded, *told.successors)[:_MOST_STEPS]:
        other = told.known.get(step.id)
        said = f"{_place(other)} {other.item.type}: {_short(other.item.text)}" if other else "which stands nowhere"
        lines.append(
            f"{'  ' * min(step.depth - 1, 8)}{step.relation} {step.id} {said}{f' ({step.mark})' if step.mark else ''}"
        )
    return veil("\n".join(lines))[:MOST_ANSWER]


def _witness(witness: Witness) -> list[str]:
    found, spoken = witness.found, witness.spoken
    place = f"{found.path}:{found.start_line}"
    if found.quote is None:
        return [f"Evidence {place}: the words stand there no longer."]
    lines = [f"Evidence {place}: {_short(without_pointer(found.quote))}"]
    if spoken and spoken.role:
        when = f" on {spoken.time}" if spoken.time else ""
        lines.append(f"  Said by the {spoken.role}{when}, {spoken.path}:{spoken.line}: {_short(spoken.text)}")
    return lines


def _place(holding: Holding) -> str:
    return "".join(c if c.isprintable() else "?" for c in holding.place)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_HIT else f"{text[:LONGEST_HIT]}…"


def _told(answer: Answer) -> str:
    notes = [f"Note: {note}" for note in answer.notes]
    if not answer.hits:
        return "\n".join(["Nothing was found. Say so rather than guess; or try other words.", *notes])
    room = MOST_ANSWER - sum(len(note) + 1 for note in notes)
    shown: list[str] = []
    for hit in answer.hits:
        told = _hit(hit)
        if shown and len(told) + 2 > room:
            notes.insert(0, f"({len(answer) - len(shown)} more were left out of this answer; narrow the question.)")
            break
        shown.append(told)
        room -= len(told) + 2
    return "\n\n".join([*shown, *(["\n".join(notes)] if notes else [])])


def _hit(hit: Hit) -> str:
    lines = f"{hit.start_line}" if hit.start_line == hit.end_line else f"{hit.start_line}-{hit.end_line}"
    quality = [*hit.types, hit.status if hit.status not in {"", "live"} else "", f"trust {hit.trust}"]
    quality += [f"confidence {hit.confidence}" if hit.confidence else "", hit.item]
    place = "".join(c if c.isprintable() else "?" for c in f"{hit.path}:{lines}")
    head = " | ".join(part for part in (place, hit.date, ", ".join(filter(None, quality))) if part)
    text = hit.text if len(hit.text) <= LONGEST_HIT else f"{hit.text[:LONGEST_HIT]}… (memory_read shows the rest)"
    return f"{head}\n{text}"
