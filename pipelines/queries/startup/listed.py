"""The items that a session sees listed at its start: what is open, with ids, and what somebody at work needs."""

from __future__ import annotations

from pipelines.queries.startup.read import Snippet, days_of, ids_in_mark, live_item, open_item

# The weights of `pipelines.store.item`, which takes longer to import than all the rest of the context takes.
_TYPE = {"Todo": 0.5, "Risk": 0.6, "Rule": 1.0, "Decision": 0.8, "Fact": 0.8, "howto": 0.9}
_HALF_LIFE_DAYS = {"Todo": 90, "Risk": 180, "Rule": 120, "Decision": 60, "Fact": 60, "howto": 120}
"""Those of beliefs are for the start of a session, which wants what is current."""
_WORK = ("- Decision: ", "- Fact: ", "- Rule: ")
_SAID = 0.7
"""The share of an item's words that a sentence has which is said to tell it."""
_DATES = (" since=", " confirmed=")
_OVER = frozenset({"done", "closed", "archived", "finished", "inactive"})
_MOST_LOOKED_AT = 150
WORK_TOKENS = 1_800
"""Tokens of procedures, decisions and facts: on public journals these answered first questions, raw log lines none."""
_CONFIDENCE = {"high": 1.0, "medium": 0.7, "low": 0.4, "speculative": 0.2}
_TRUST = {"owner": 1.0, "self": 0.8, "external": 0.5, "untrusted": 0.2}
_FLOOR = 0.2
_FADES = 4  # what nobody stated fades so many times as fast
_DAY = 10
_SOON = 14
_NEVER = 1_000_000
_HEAD = 24  # characters within which the label of an item stands: `- [ ] **Todo:**`
_LONGEST_ID = 65
_PAIRED = "may-conflict"
_MOST_PAIRS = 3
_MOST_SAID = 200  # characters of an item in a pair
LEAST_ID = 5
"""Characters of an id at least: `k` and four digits."""


def open_entries(
    texts: list[tuple[str, str]], today: str, project: str = "", *, is_quiet: bool = False
) -> list[Snippet]:
    """Return an entry for each open todo and risk, in the order in which they matter.

    What is overdue or due soon comes first, nearest to today, so that old todos hide none of today's; then what belongs
    to the session's project; of all else the weightiest. Appointments that are over come last.

    Args:
        texts: path and text of each document.
        today: the memory's day, `YYYY-MM-DD`.
        project: the path of the session's project, or empty.
        is_quiet: whether to return those that are quiet, and no others.
    """
    found = []
    ids: list[str] = []
    for path, text in texts:
        ids += _ids_in(text)
        for line in text.split("\n"):
            head = line[:_HEAD].lower()  # nearly all lines are others, and few need a closer look
            if ("todo" in head or "risk" in head) and "<!-- k" in line and (item := open_item(line)):
                kind, words, ident, fields = item
                if ("quiet" in fields) is not is_quiet:
                    continue
                due, on = (fields.get(key, "") for key in ("due", "on"))
                is_overdue, has_passed = len(due) == _DAY and due < today, len(on) == _DAY and on < today
                day = due if len(due) == _DAY else on if len(on) == _DAY and not has_passed else ""
                ahead = days_of(day) - days_of(today) if day else _SOON + 1
                gap = abs(ahead) if ahead <= _SOON else _NEVER
                rank = (has_passed, gap, not is_overdue, path != project, -weight(kind, fields, today), ident)
                notes = [f"due {due}{', overdue' if is_overdue else ''}"] if due else []
                notes += [f"was on {on}, outcome unknown" if has_passed else f"on {on}"] if on else []
                name = _page(path)
                found.append((rank, ident, f"{kind}: {words} ({', '.join([*notes, name])})"))
    short = short_ids(ids)
    return [Snippet(f"- {short[ident]} {line}", ids=(ident,)) for _, ident, line in sorted(found)]


def work_entries(texts: list[tuple[str, str]], today: str, project: str = "") -> list[Snippet]:
    """Return an entry for what somebody at work needs of the pages: procedures, decisions, facts and their rules.

    They are ordered by worth, which fades; the newest are looked at alone. What the briefing's first sentences say in
    full, and what stands on the page of the session's project, is left out: the session sees it there.

    Args:
        texts: path and text of each document.
        today: the memory's day, `YYYY-MM-DD`.
        project: the path of the session's project, or empty.
    """
    told, dated = _told(texts), []
    for path, text in texts:
        if path != project and "/" in path and not _is_closed(text):
            dated += [(_date_of(line), path, line) for line in text.split("\n") if line.startswith(_WORK)]
    dated.sort(reverse=True)
    ranked = []
    for _, path, line in dated[:_MOST_LOOKED_AT]:
        item = live_item(line)
        if item is None:
            continue
        kind, words, ident, fields = item
        if ident in told and _is_said(words, told[ident]):
            continue
        is_procedure = fields.get("section") == "howto"
        ranked.append(
            (-weight("howto" if is_procedure else kind, fields, today), ident, f"- {kind}: {words} ({_page(path)})")
        )
    found, room = [], WORK_TOKENS
    for _, ident, line in sorted(ranked):
        entry = Snippet(line, ids=(ident,))
        room -= entry.size
        if room < 0:
            break
        found.append(entry)
    return found


def _told(texts: list[tuple[str, str]]) -> dict[str, set[str]]:
    """Return id of an item → the words of the briefing's sentences that rest on it."""
    told: dict[str, set[str]] = {}
    for path, text in texts:
        for line in text.split("\n") if "/" not in path else ():
            if "<!-- s:" in line:
                for ident in ids_in_mark(line):
                    told.setdefault(ident, set()).update(line.lower().split())
    return told


def _is_said(text: str, told: set[str]) -> bool:
    words = text.lower().split()
    return sum(word in told for word in words) >= _SAID * len(words)


def pair_entries(texts: list[tuple[str, str]]) -> list[Snippet]:
    """Return an entry for each pair that may conflict, newest first, with the commands that settle it.

    Args:
        texts: path and text of each document.
    """
    pairs = []
    for path, text in texts:
        lines = text.split("\n") if _PAIRED in text else ()
        held = {item[2]: item for item in map(live_item, lines) if item}
        olds = [(new, held.get(new[3].get(_PAIRED, ""))) for new in held.values()]
        pairs += [(new[3].get("since", ""), new, old, _page(path)) for new, old in olds if old]
    short = short_ids([ident for _, text in texts for ident in _ids_in(text)]) if pairs else {}
    found = []
    for _, new, old, page in sorted(pairs, key=lambda pair: pair[0], reverse=True)[:_MOST_PAIRS]:
        one, other = short[new[2]], short[old[2]]
        ways = f"`curate settle {one} replaces {other}`, or `curate settle {one} both {other}`"
        found.append(Snippet(f"- {one} {_said(new, page)}\n  {other} {_said(old)}\n  {ways}", ids=(new[2], old[2])))
    return found


def _said(item: tuple[str, str, str, dict[str, str]], page: str = "") -> str:
    kind, words, _, fields = item
    words = words if len(words) <= _MOST_SAID else f"{words[:_MOST_SAID]}…"
    return f"{kind}: {words} ({page}{', ' if page else ''}since {fields.get('since', '?')})"


def _page(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _is_closed(text: str) -> bool:
    """Whether a page says at its top that it is over."""
    status = text[:2048].partition("\nstatus: ")[2].partition("\n")[0].strip().casefold()
    return text.startswith("---") and status in _OVER


def _date_of(line: str) -> str:
    """Return the day since which an item holds, or on which it was last said."""
    found = [line[at + len(key) : at + len(key) + _DAY] for key in _DATES if (at := line.rfind(key)) >= 0]
    return max(found, default="")


def weight(kind: str, fields: dict[str, str], today: str) -> float:
    """Return how much an item weighs, by the default weights; what is pinned weighs most.

    Args:
        kind: its type, or `howto` for a procedure.
        fields: what its comment says, by key.
        today: the memory's day.
    """
    worth = _TYPE[kind] * _CONFIDENCE.get(fields.get("confidence", ""), 1) * _TRUST.get(fields.get("trust", ""), 1)
    if fields.get("pinned") == "yes":
        return 1 + worth
    age = max(0, days_of(today) - days_of(fields.get("confirmed") or fields.get("since") or today))
    fades = _FADES if fields.get("confidence") == "speculative" else 1
    recency = float(0.5 ** (age * fades / _HALF_LIFE_DAYS[kind]))
    return worth * max(_FLOOR, recency)


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
