"""Why an item is believed: its quotes, its origin, what it rests on, what depends on it, and its history.

The history is every wording and status, with the time, the commit and the author of each change. It is read from the
commits that changed the item's line, in whatever document it was, never from the logs'.
"""

from __future__ import annotations

from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import BadFile
from pipelines.queries.item_graph import Beliefs, Holding, Json, backwards, item_line, quote_lines, safe
from pipelines.store.days import read_days
from pipelines.store.evidence import FoundQuote, Quotes
from pipelines.store.files import open_regular, read_bytes
from pipelines.store.item import Item, Trust
from pipelines.store.layout import TOMBSTONES
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.state import Reason, Tombstone, read_tombstones
from pipelines.store.template import named_item
from pipelines.store.transcripts.reader import Transcript
from pipelines.store.trees import document_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pipelines.store.document import Document
    from pipelines.store.git import Git

    Place = tuple[str, Item | None]


WHOSE = {
    Trust.OWNER: "the owner's word",
    Trust.SELF: "a line of the journal, or the agent's word",
    Trust.EXTERNAL: "from a source that the agent read",
    Trust.UNTRUSTED: "from an untrusted source",
}
"""Whose word an item is, in a few words."""
SHOWN = 600
"""How many characters of a transcript's record are shown."""


class Witness(NamedTuple):
    """A place that an item rests on, with the transcript's record behind it, if there is one.

    Args:
        found: the words found there, and the place of the record.
        role: who spoke, user or assistant; empty if the record cannot be read.
        text: what was said, shortened.
        time: when, ISO 8601, or empty.
    """

    found: FoundQuote
    role: str = ""
    text: str = ""
    time: str = ""

    def to_json(self) -> Json:
        """Return it for JSON."""
        record: Json | None = None
        if self.found.record:
            path, line = self.found.record
            said = {name: getattr(self, name) or None for name in ("role", "text", "time")}
            record = {"path": path, "line": line, **said}
        return self.found.to_json() | {"record": record}


class Why(NamedTuple):
    """Why an item is believed, and its history.

    Args:
        id: its id.
        holding: the item and its place, or None if it is gone.
        buried: its tombstone if it was deleted, undone or forgotten, or None.
        versions: its history, oldest first.
        witnesses: the first and the last place that it rests on.
        grounds: what it rests on, directly or through other items.
        superseded: what it replaced, newest first.
        successors: what replaced it.
        dependents: what rests on it, directly or through other items.
        outdated: what it rests on that no longer holds, if it is itself believed.
    """

    id: str
    holding: Holding | None
    buried: Tombstone | None
    versions: list[Version]
    witnesses: list[Witness]
    grounds: list[Holding]
    superseded: list[Holding]
    successors: list[Holding]
    dependents: list[Holding]
    outdated: tuple[str, ...]

    @property
    def forgotten(self) -> bool:
        """Whether a person had it forgotten, so that its words must not be shown."""
        return self.buried is not None and self.buried.reason is Reason.FORGOTTEN

    def to_json(self) -> Json:
        """Return it for JSON, without the words of a forgotten item."""
        versions = [one.to_json() for one in self.versions]
        for told in versions:
            for key in ("text", "reason"):
                # Git may keep what was redacted since.
                told[key] = without_secrets(told[key]) if told[key] and not self.forgotten else None
        item = self.holding.to_json() if self.holding else {"id": self.id}
        return item | {
            "stands": self.holding.place if self.holding else None,
            "gone": {"day": self.buried.day, "reason": self.buried.reason} if self.buried else None,
            "seen": max(self.holding.item.seen, len(self.witnesses)) if self.holding else 0,
            "evidence": [one.to_json() for one in self.witnesses],
            "grounds": [one.to_json() for one in self.grounds],
            "outdated_grounds": self.outdated,
            "superseded": [one.to_json() for one in self.superseded],
            "successors": [one.to_json() for one in self.successors],
            "impact": [one.to_json() for one in self.dependents],
            "versions": versions,
        }


def why(root: Path, git: Git | None, prefix: str, beliefs: Beliefs) -> Why:
    """Return why an item is or was believed.

    Args:
        root: the memory.
        git: its repository; None to leave out the versions.
        prefix: the start of the item's id; it may be gone.
        beliefs: all items now.

    Raises:
        UnknownItem: no item ever had such an id, or more than one has.
    """
    stones = {stone.id: stone for stone in sorted(read_tombstones(read_bytes(root, TOMBSTONES)))}
    ident, quotes = named_item(prefix, beliefs.by_id, stones), Quotes(root)
    holding = beliefs.by_id.get(ident)
    return Why(
        id=ident,
        holding=holding,
        buried=stones.get(ident),
        versions=list(_versions_of(git, ident, holding)) if git else [],
        witnesses=[_witness(root, quotes.found(place)) for place in (holding.item.evidence if holding else ())],
        grounds=beliefs.reached(ident, beliefs.grounds),
        superseded=beliefs.reached(ident, backwards(beliefs.successors)),
        successors=beliefs.reached(ident, beliefs.successors),
        dependents=beliefs.reached(ident, backwards(beliefs.grounds)),
        outdated=beliefs.outdated_grounds(ident),
    )


def _witness(root: Path, found: FoundQuote) -> Witness:
    """Return a place with the record behind it. The transcript is read only up to that record."""
    if found.record is None:
        return Witness(found)
    path, line = found.record
    try:
        file = open_regular(root, path)
    except BadFile:
        file = None
    if file is None:
        return Witness(found)
    with file:
        turn = next((one for one in Transcript(file, read_days(root).zone) if one.line >= line), None)
    if turn is None or turn.line != line:
        return Witness(found)
    text = turn.text if len(turn.text) <= SHOWN else f"{turn.text[:SHOWN].rstrip()} …"
    time = turn.time.isoformat(timespec="seconds") if turn.time else ""
    return Witness(found, turn.role.value, without_secrets(text), time)


# ---------------------------------------- the history of one item


_TRAILERS = "Run-Id Undoes Extractor Joins".split()
_FORMAT = "%x1f".join(
    ["%H", "%cI", *(f"%(trailers:key={key},valueonly,separator=%x20)" for key in _TRAILERS), "%an", "%s"]
)
_FIELDS = 4 + len(_TRAILERS)
_MADE = "by date day commit subject author run".split()


class Version(NamedTuple):
    """An item as one commit left it, or an edit that is not committed yet.

    Args:
        path: the document that held it from then on, or empty if none did.
        item: the item, or None if it was gone.
        changed: what changed, in a few words each.
        made: how, as JSON tells it: when (`date`, and the memory's `day`), by which `commit` with its `subject` and
            `author`, in which `run`, and whether `by` a person, with an editor or a verb, or by a run. Of an edit that
            is not committed yet, all but the last are None.
    """

    path: str
    item: Item | None
    changed: list[str]
    made: Mapping[str, str | None]

    def to_json(self) -> Json:
        """Return it for JSON."""
        said = {name: getattr(self.item, name, "") or None for name in ("type", "text", "status", "reason")}
        return {**self.made, "document": self.path or None, **said, "changed": self.changed}


def _versions_of(git: Git, ident: str, holding: Holding | None) -> Iterator[Version]:
    """Yield the versions of an item, oldest first; commits that only mention its id are none.

    Args:
        git: its repository.
        ident: the item's id.
        holding: where it is now, or None.
    """
    # A join may be the only commit that has what it made of both sides.
    how = "-m", "--date-order", f"-G{ident}", "--text"
    found = document_versions(git, _FORMAT, *how) if git.head() else ()
    commits = [
        (head, [(after.path, _held(before, ident), _held(after, ident)) for _, before, after in versions])
        for head, versions in groupby(found, key=itemgetter(0))
    ]
    days = read_days(git.root)
    places = dict[str, Item]()
    was: Place = ("", None)
    for head, sides in reversed(commits):
        changed_sides = [(path, new) for path, old, new in sides if old != new]
        for path, _ in changed_sides:
            places.pop(path, None)
        places |= {path: new for path, new in changed_sides if new}
        now: Place = min(places.items(), key=itemgetter(0), default=("", None))
        if changed := list(changes(was, now)):
            commit, when, run, undoes, reader, joins, author, subject = head.split("\x1f", _FIELDS - 1)
            is_person = not (run + joins).strip() or reader.strip() == "owner" or bool(undoes.strip())
            by, day = "person" if is_person else "run", days.of(datetime.fromisoformat(when))
            made = zip(_MADE, (by, when, day, commit, subject, author, run.strip() or None), strict=True)
            yield Version(*now, changed, dict(made))
        was = now
    now = (holding.path, holding.item) if holding else ("", None)
    if now != was:
        yield Version(now[0], now[1], list(changes(was, now)), dict.fromkeys(_MADE) | {"by": "person"})


def _held(document: Document, ident: str) -> Item | None:
    return document.held.get(ident, ("", None))[1]


_OTHERS = "since by links source person on quiet perhaps closed_by extra".split()


def changes(was: Place, now: Place) -> Iterator[str]:
    """Yield what changed about an item, in a few words each."""
    (path, before), (new_path, after) = was, now
    if before is None or after is None:
        yield from ["filed"] if after else ["removed"] if before else []
        return
    if path != new_path:
        yield f"moved from {path}"
    for name in ("type", "status", "trust", "confidence"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield f"{'' if name == 'status' else f'{name} '}{old} to {new}"
    yield from ["reworded"] if before.text != after.text else []
    for name in ("superseded_by", "merged_into", "until"):
        if (new := getattr(after, name)) != getattr(before, name):
            told = name.replace("_", " ")
            yield f"{told} {new}" if new else f"no longer {told} {getattr(before, name)}"
    if before.evidence != after.evidence or before.confirmed != after.confirmed:
        yield "confirmed" if after.seen >= before.seen else "evidence changed"
    if before.pinned != after.pinned:
        yield "pinned" if after.pinned else "no longer pinned"
    if any(getattr(before, name) != getattr(after, name) for name in _OTHERS):
        yield "taken over by a person" if before.by and not after.by else "metadata changed"


# ---------------------------------------- as lines of text; what begins without a blank is a heading


def why_lines(result: Why, when: Callable[[str], str] = str) -> Iterator[str]:
    """Yield why an item is or was believed, and every wording and status of it, oldest first.

    `when` returns a day or moment as it is shown.
    """
    if result.holding:
        yield from _item_lines(result, result.holding, when)
    yield "History"
    words = ""
    for version in result.versions:
        made = version.made
        yield f"  {when(made['date'] or '') or 'not committed yet'}  {', '.join(version.changed)}"
        by_code = f"run {made['run']}" if made["run"] else "a sync"
        who = f"a person ({made['author']})" if made["by"] == "person" else by_code
        source = f"{who}, commit {made['commit'][:10]}: {safe(made['subject'] or '')}" if made["commit"] else ""
        yield f"    {source or 'an edit by hand; the next run commits it'}"
        if version.item and not result.forgotten and version.item.text != words:
            words = version.item.text
            yield f"    {version.item.called}: {safe(words)}"
            if version.item.reason:
                yield f"    kept because: {safe(version.item.reason)}"
        if version.path:
            yield f"    in {version.path}, {version.item.status if version.item else ''}"
    if result.forgotten:
        yield "  Its words were forgotten on request and are not shown."
    if result.buried and not result.holding:
        yield f"It is gone: it was {result.buried.reason} on {when(result.buried.day)}."


def _item_lines(result: Why, holding: Holding, when: Callable[[str], str]) -> Iterator[str]:
    item = holding.item
    yield item_line(item)
    dated = {"since": item.since, "until": item.until, "confirmed": item.confirmed}
    days = [f"{word} {when(day)}" for word, day in dated.items() if day]
    yield f"  {', '.join([holding.place, item.status, *days])}"
    yield f"  {WHOSE[item.trust]}, confidence {item.confidence}{', pinned' if item.pinned else ''}"
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
    yield f"  extracted by {item.by}" if item.by else "  written by a person"
    for title, others in (
        ("Rests on", result.grounds),
        ("Replaced", result.superseded),
        ("Replaced by", result.successors),
        ("Needed by", result.dependents),
    ):
        yield from [title] if others else []
        yield from (f"  {item_line(one.item)}" for one in others)


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
        if not witness.role:
            yield f"    behind it {place}, which cannot be read on this machine"
            return
        yield f"    said by the {witness.role}{f', {when(witness.time)}' if witness.time else ''}, in {place}"
        yield from quote_lines(witness.text, "      ")
