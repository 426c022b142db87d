"""What is open: todos and risks with ids short enough to write down, the overdue and the weightiest first.

An agent closes one with a line of the log: `Done: k3f2a`. Nothing is imported that a session would have to wait for.
"""

from __future__ import annotations

from pipelines.queries.startup.read import Entry, open_item

LEAST_ID = 5
"""Characters of an id at least: `k` and four digits."""

# The weights of `pipelines.store.item`, which takes longer to import than all the rest of the context takes.
_TYPE = {"Todo": 0.5, "Risk": 0.6}
_HALF_LIFE_DAYS = {"Todo": 90, "Risk": 180}
_CONFIDENCE = {"high": 1.0, "medium": 0.7, "low": 0.4, "speculative": 0.2}
_TRUST = {"owner": 1.0, "self": 0.8, "external": 0.5, "untrusted": 0.2}
_FLOOR = 0.2
_FADES = 4  # what nobody stated fades so many times as fast
_DAY = 10
_SOON = 14
_HEAD = 24  # characters within which the label of an item stands: `- [ ] **Todo:**`
_LONGEST_ID = 65


def open_entries(texts: list[tuple[str, str]], today: str, project: str = "") -> list[Entry]:
    """Return an entry for each open todo and risk, in the order in which they matter.

    What is overdue comes first, then what is due soon, by its day, then what belongs to the session's project; of all
    else the weightiest.

    Args:
        texts: path and text of each document.
        today: the memory's day, `YYYY-MM-DD`.
        project: the path of the session's project, or empty.
    """
    found = []
    ids: list[str] = []
    for path, text in texts:
        ids += _ids_in(text)
        for line in text.split("\n"):
            head = line[:_HEAD].lower()  # nearly all lines are others, and few need a closer look
            if ("todo" in head or "risk" in head) and "<!-- k" in line and (item := open_item(line)):
                kind, words, ident, fields = item
                due = fields.get("due", "")
                is_overdue = len(due) == _DAY and due < today
                is_soon = len(due) == _DAY and _days(due) - _days(today) <= _SOON
                soon = "" if is_overdue else due if is_soon else "9"
                rank = (not is_overdue, soon, path != project, -weight(kind, fields, today), ident)
                notes = [f"due {due}{', overdue' if is_overdue else ''}"] if due else []
                name = path.rpartition("/")[2].removesuffix(".md")
                found.append((rank, ident, f"{kind}: {words} ({', '.join([*notes, name])})"))
    short = short_ids(ids)
    return [Entry(f"- {short[ident]} {line}", ids=(ident,)) for _, ident, line in sorted(found)]


def weight(kind: str, fields: dict[str, str], today: str) -> float:
    """Return how much an open todo or risk weighs, by the default weights; what is pinned weighs most.

    Args:
        kind: Todo or Risk.
        fields: what its comment says, by key.
        today: the memory's day.
    """
    worth = _TYPE[kind] * _CONFIDENCE.get(fields.get("confidence", ""), 1) * _TRUST.get(fields.get("trust", ""), 1)
    if fields.get("pinned") == "yes":
        return 1 + worth
    age = max(0, _days(today) - _days(fields.get("confirmed") or fields.get("since") or today))
    fades = _FADES if fields.get("confidence") == "speculative" else 1
    recency = float(0.5 ** (age * fades / _HALF_LIFE_DAYS[kind]))
    return worth * max(_FLOOR, recency)


def _days(day: str) -> int:
    """Return how many days have passed on a day, as `date.toordinal` counts them; one that cannot be read is the first.

    A year is taken to begin in March, so that the leap day is its last one.
    """
    try:
        year, month = divmod(int(day[:4]) * 12 + int(day[5:7]) - 3, 12)
        return year * 365 + year // 4 - year // 100 + year // 400 + (month * 306 + 5) // 10 + int(day[8:10])
    except ValueError:
        return 0


def _ids_in(text: str) -> list[str]:
    """Return the ids of the items of a document, whatever their status."""
    return [f"k{part[:_LONGEST_ID].partition(' ')[0]}" for part in text.split("<!-- k")[1:]]


def short_ids(ids: list[str]) -> dict[str, str]:
    """Return each id's shortest beginning that no other id has, of `LEAST_ID` characters at least."""
    ordered = sorted(set(ids))
    shared = [0, *map(_shared, ordered, ordered[1:]), 0]
    return {one: one[: max(LEAST_ID, shared[at] + 1, shared[at + 1] + 1)] for at, one in enumerate(ordered)}


def _shared(one: str, other: str) -> int:
    """Return how many characters two ids begin with alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
