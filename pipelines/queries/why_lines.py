"""Why an item is believed, and its history, as lines of text: what begins without a blank is a heading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.queries.item_graph import SHORT, item_line, quote_lines, safe
from pipelines.queries.why import trust_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pipelines.queries.why import History, Version, Why, Witness


def why_lines(result: Why, when: Callable[[str], str] = str) -> Iterator[str]:
    """Yield why an item is believed; `when` returns a day or moment as it is shown."""
    item = result.item
    yield item_line(item)
    dated = {"since": item.since, "until": item.until, "confirmed": item.confirmed}
    days = [f"{word} {when(day)}" for word, day in dated.items() if day]
    yield f"  {', '.join([result.holding.place, item.status, *days])}"
    yield f"  {trust_label(item)}, confidence {item.confidence}{', pinned' if item.pinned else ''}"
    if item.reason:
        yield f"  kept because: {safe(item.reason)}"
    yield from (f"  ! {safe(one)}" for one in result.outdated)
    yield "Evidence"
    for witness in result.witnesses:
        yield from _witness_lines(witness, when)
    if not result.witnesses:
        yield "  none: a person wrote it" if not item.by else "  none given"
    elif item.seen > len(result.witnesses):
        yield f"  seen {item.seen} times; the first and the last place are kept"
    yield "Origin"
    prompt = f", version {result.prompt}" if result.prompt else ""
    yield f"  extracted by {result.model}{prompt}" if result.model else "  written by a person"
    if result.part_of:
        yield f"  mentioned in {', '.join(result.part_of)}"
    for title, steps in (
        ("Rests on", result.grounds),
        ("Replaced", result.superseded),
        ("Replaced by", result.successors),
        ("Needed by", result.dependents),
    ):
        yield from [title] if steps else []
        for step in steps:
            shown = item_line(step.holding.item) if step.holding else f"{step.id[:SHORT]} (no longer exists)"
            yield f"  {step.relation} {shown}"
    yield from history_lines(result.history, when)


def _witness_lines(witness: Witness, when: Callable[[str], str]) -> Iterator[str]:
    found = witness.found
    lines = f"{found.start_line}" if found.start_line == found.end_line else f"{found.start_line}-{found.end_line}"
    if found.quote is None:
        yield f"  {found.path}:{lines}: the words are no longer there"
        return
    yield f"  {found.path}:{lines}"
    yield from quote_lines(found.quote)
    if found.record:
        place = f"{found.record[0]}:{found.record[1]}"
        if witness.why_not:
            yield f"    behind it {place}, which {witness.why_not}"
            return
        yield f"    said by the {witness.role}{f', {when(witness.time)}' if witness.time else ''}, in {place}"
        yield from quote_lines(witness.text, "      ")


def history_lines(result: History, when: Callable[[str], str] = str) -> Iterator[str]:
    """Yield every wording and status of an item, oldest first."""
    yield "History"
    words = ""
    for version in result.versions:
        yield f"  {when(version.when) or 'not committed yet'}  {', '.join(version.changed)}"
        source = f"{_who(version)}, commit {version.commit[:10]}: {safe(version.subject)}"
        yield f"    {source if version.commit else 'an edit by hand; the next run commits it'}"
        if version.item and not result.forgotten and version.item.text != words:
            words = version.item.text
            yield f"    {version.item.type}: {safe(words)}"
            if version.item.reason:
                yield f"    kept because: {safe(version.item.reason)}"
        if version.path:
            yield f"    in {version.path}, {version.item.status if version.item else ''}"
    if result.forgotten:
        yield "  Its words were forgotten on request and are not shown."
    if result.buried and not result.holding:
        yield f"It is gone: it was {result.buried.reason} on {when(result.buried.day)}."


def _who(version: Version) -> str:
    return f"a person ({version.author})" if version.is_person else f"run {version.run}"
