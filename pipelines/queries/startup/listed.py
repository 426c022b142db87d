"""The items that a session sees listed at its start: what is open, with ids, and what somebody at work needs."""

from __future__ import annotations

import os
from itertools import pairwise

from pipelines.queries.startup.read import Snippet, days_of, grounds_of, is_gone, is_open, kind_of_item, tokens
from pipelines.store.item_line import ItemLine, ItemRow, line_key, read_item_line, split_due

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

# The weights of `pipelines.store.item`, which takes longer to import than all the rest of the context takes.
_TYPE = {
    "State": 1.0,
    "Todo": 0.5,
    "Risk": 0.6,
    "Question": 0.4,
    "Rule": 1.0,
    "Decision": 0.9,
    "Fact": 0.75,
    "howto": 0.9,
}
_HALF_LIFE_DAYS = {
    "State": 60,
    "Todo": 90,
    "Risk": 180,
    "Question": 90,
    "Rule": 120,
    "Decision": 60,
    "Fact": 60,
    "howto": 120,
}
"""Those of beliefs are for the start of a session, which wants what is current."""
_WORK = frozenset({"decision", "fact", "rule"})
_SAID = 0.75
"""The share of a sentence's words that another has at which the other is said to tell it."""
_CITED = 0.6
"""The same of an item in the sentences that rest on it: what a model left out of these matters less."""
_LONGEST_WORD = 12
"""What is longer is taken as pairs of characters: scripts without blanks, and addresses."""
_NAMED = 48
"""Tokens of an open item that a sentence tells already, that was due long ago, or that comes late: they name it."""
IN_FULL_TOKENS = 900
"""Tokens of open items in full words; those that come later are named, and quiet ones in half as many tokens."""
_LONG_AGO = 21
"""Days after which what is overdue and was not mentioned since is only named."""
_OVER = frozenset({"done", "closed", "archived", "finished", "inactive"})
_MOST_LOOKED_AT = 150
_EACH_MORE = 0.95
"""What the next item of a page is worth, by the one before: no page drives out all others."""
WORK_TOKENS = 2_200
"""Tokens of procedures, decisions and facts: on public journals these answered first questions, raw log lines none."""
_CONFIDENCE = {"high": 1.0, "medium": 0.7, "low": 0.4, "speculative": 0.2}
_TRUST = {"owner": 1.0, "self": 0.8, "external": 0.5, "untrusted": 0.2}
_FLOOR = 0.2
_FADES = 4  # what nobody stated fades so many times as fast
_SOON = 14
_NEVER = 1_000_000
_PAIRED = "may-conflict"
_MOST_PAIRS = 3
_MOST_SAID = 200  # characters of an item in a pair
LEAST_ID = 5
"""Characters of an id at least: `k` and four digits."""


Held = list[tuple[str, ItemLine]]
"""The items with an id of a memory's documents, whatever their status, each with the path of its document."""
Said = list[tuple[frozenset[str], tuple[str, ...]]]
"""Sentences that a session is shown: the words of each, and the ids of the items that it rests on."""


def sentences_of_now(texts: list[tuple[str, str]], rows: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the sentences that runs wrote into the briefing, which a session reads first, with what each rests on.

    Args:
        texts: path and text of each document.
        rows: the ledger by id and key.
    """
    found = [_generated(text, "Now", rows) for path, text in texts if "/" not in path]
    return {line: grounds_of(row) for one in found for line, row in one.items()}


def state_of(text: str, rows: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Return what a model wrote on where a page stands, with the ids of the items that each sentence rests on.

    What code writes there only repeats items.
    """
    found = _generated(text, "State", rows)
    return {line: grounds_of(row) for line, row in found.items() if ItemRow(row).get("of")}


def _generated(text: str, title: str, rows: dict[str, str]) -> dict[str, str]:
    """Return the lines that runs wrote under a heading, with their rows."""
    section = f"\n{text}\n## ".partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    keyed = ((line.rstrip(), rows.get(line_key(title, line), "")) for line in section.split("\n"))
    return {line: row for line, row in keyed if row}


def said_in(sentences: dict[str, tuple[str, ...]]) -> Said:
    """Return sentences as what an item is compared with."""
    return [(_words(sentence), ids) for sentence, ids in sentences.items()]


def items_of(texts: list[tuple[str, str]], rows: dict[str, str]) -> Held:
    """Return the items of some documents, given as path and text; `rows` is the ledger by id."""
    marked = [(path, line) for path, text in texts for line in text.split("\n") if "^k" in line]
    return [(path, item) for path, line in marked if (item := read_item_line(line, rows)) and item.id]


def tells(said: Said, text: str, ident: str = "") -> bool:
    """Whether nearly all words of an item and its numbers stand in a sentence, or most in those that rest on it."""
    words = _words(text)
    numbers = {word for word in words if any(map(str.isdigit, word))}
    least = max(1, _SAID * len(words))
    is_in_one = any(len(words & told) >= least and numbers <= told for told, _ in said)
    return is_in_one or is_cited(said, text, ident)


def is_cited(said: Said, text: str, ident: str) -> bool:
    """Whether most words of an item stand in the sentences that rest on it."""
    words = _words(text)
    cited = {word for told, grounds in said if ident in grounds for word in told}
    return len(words & cited) >= max(1, _CITED * len(words))


def told_above(held: Held, said: Said) -> dict[str, str]:
    """Return the open items that sentences which rest on them tell: id → shortened id."""
    there = [item for _, item in held if is_open(item) and is_cited(said, item.words, item.id)]
    short = short_ids([item.id for _, item in held]) if there else {}
    return {item.id: short[item.id] for item in there}


def _words(text: str) -> frozenset[str]:
    found: list[str] = []
    for part in text.lower().split():
        word = part.strip(".,;:!?()\"'`*…")
        found += [word[at : at + 2] for at in range(len(word))] if len(word) > _LONGEST_WORD else [word]
    return frozenset(found)


def open_entries(
    held: Held, today: str, said: Said, project: str = "", *, above: Container[str] = (), is_quiet: bool = False
) -> list[Snippet]:
    """Return an entry for each open todo, risk and question, in the order in which they matter.

    What is overdue or due soon comes first, nearest to today, so that old todos hide none of today's; then what belongs
    to the session's project; of all else the weightiest. Appointments that are over come last. What a sentence tells
    already, what was due weeks ago and not mentioned since, and what comes when the room is full, is only named.

    Args:
        held: the items of the memory's documents.
        today: the memory's day, `YYYY-MM-DD`.
        said: what the session is shown before.
        project: the path of the session's project, or empty.
        above: ids of those that a sentence above tells, with the id behind it: they are left out.
        is_quiet: whether to return those that are quiet, and no others.
    """
    found, now = [], days_of(today)
    for path, item in held:
        fields = item.row
        if bool(fields.get("quiet")) is not is_quiet or not is_open(item) or item.id in above:
            continue
        kind, ident, on = kind_of_item(item), item.id, fields.get("on")
        words, due = split_due(item.words)
        is_overdue, has_passed = "" < due < today, "" < on < today
        day = due or ("" if has_passed else on)
        ahead = days_of(day) - now if day else _NEVER
        gap = abs(ahead) if ahead <= _SOON else _NEVER
        perhaps = fields.get("perhaps").partition(":")[0]  # "done 2026-03-04: …"
        rank = (has_passed or bool(perhaps), gap, not is_overdue, path != project, -weight(kind, fields, today))
        notes = [f"due {due}{', overdue' if is_overdue else ''}"] if due else []
        notes += [f"was on {on}, outcome unknown" if has_passed else f"on {on}"] if on else []
        notes += [f"perhaps {perhaps.replace(' ', ' since ')}"] if perhaps else []
        is_old = is_overdue and now - days_of(max(_date_of(item), due)) > _LONG_AGO
        is_told = is_old or tells(said, words, ident)
        found.append((rank, ident, f"{kind}: {words}", f" ({', '.join([*notes, page_name(path)])})", is_told))
    short, entries, room = short_ids([item.id for _, item in held]), [], IN_FULL_TOKENS
    most = _NAMED // 2 if is_quiet else _NAMED
    for _, ident, words, where, is_told in sorted(found):
        if (is_told or is_quiet or room < 0) and (size := tokens(words)) > most:
            words = f"{words[: len(words) * most // size].rstrip()}…"  # noqa: PLW2901  what is shown of it
        entries.append(Snippet(f"- {short[ident]} {words}{where}", ids=(ident,)))
        room -= entries[-1].size
    return entries


def work_entries(
    texts: list[tuple[str, str]], held: Held, rows: dict[str, str], today: str, said: Said, project: str = ""
) -> list[Snippet]:
    """Return what somebody at work needs of the pages, page by page: where each stands, then its rules and beliefs.

    They are chosen by worth, which fades; of items, the newest are looked at alone. What a sentence tells already, and
    what stands on the page of the session's project, is left out: the session sees it there.

    Args:
        texts: path and text of each document.
        held: their items.
        rows: the ledger by id and key.
        today: the memory's day, `YYYY-MM-DD`.
        said: what the session is shown before; what is chosen is added.
        project: the path of the session's project, or empty.
    """
    pages = {path: text for path, text in texts if path != project and "/" in path}
    pages = {path: text for path, text in pages.items() if _front(text, "status").casefold() not in _OVER}
    at_work = [one for one in held if one[0] in pages and one[1].label in _WORK and not one[1].is_struck]
    dated = sorted(at_work, key=lambda one: (_date_of(one[1]), one[0], one[1].label, one[1].words), reverse=True)
    ranked: list[tuple[float, tuple[str, ...], str, str, str]] = []
    for path, item in dated[:_MOST_LOOKED_AT]:
        kind, fields = kind_of_item(item), item.row
        if not (is_gone(item) or kind == "Question" or fields.get("quiet")):
            worth = weight("howto" if fields.get("section") == "howto" else kind, fields, today)
            ranked.append((-worth, (item.id,), path, f"- {kind}: {item.words}", item.words))
    since = {item.id: _date_of(item) for _, item in held}
    for path, text in pages.items():
        for sentence, ids in state_of(text, rows).items():
            newest = max([since.get(one, "") for one in ids], default="")
            row = ItemRow(f'{{"since": "{newest}"}}')
            ranked.append((-weight("State", row, today), ids, path, sentence, sentence))
    ranked.sort()
    paths = [path for _, _, path, *_ in ranked]
    spread = [(one[0] * _EACH_MORE ** paths[:at].count(paths[at]), *one[1:]) for at, one in enumerate(ranked)]
    chosen, room = dict[str, list[Snippet]](), WORK_TOKENS
    for worth, ids, path, shown, words in sorted(spread):
        entry = Snippet(shown, f"{-worth:.6f}", ids=ids)
        if entry.size <= room and not tells(said, words, ids[0] if shown != words else ""):
            room -= entry.size
            said.append((_words(words), ids if shown == words else ()))
            chosen.setdefault(path, []).append(entry)
    latest = [path for path in dict.fromkeys([path for path, _ in dated]) if path in chosen]
    latest += [path for path in chosen if path not in latest]
    return [one for path in latest for one in (Snippet(_head_of(path, pages[path]), heading=2), *chosen[path])]


def _head_of(path: str, text: str) -> str:
    """Return the line above what is shown of a page: its title, where it stands, and what it is for."""
    title, purpose = _front(text, "title") or page_name(path), _front(text, "purpose")
    return f"## {title} ({path}){': ' if purpose else ''}{purpose}"


def _front(text: str, key: str) -> str:
    """Return a value of a page's front matter, or an empty string."""
    return text[:2048].partition(f"\n{key}: ")[2].partition("\n")[0].strip() if text.startswith("---") else ""


def pair_entries(held: Held) -> list[Snippet]:
    """Return an entry for each pair that may conflict, newest first, with the commands that settle it."""
    there = {(path, item.id): item for path, item in held if not is_gone(item)}
    olds = [(path, new, there.get((path, new.row.get(_PAIRED)))) for (path, _), new in there.items()]
    pairs = [(new.row.get("since"), new, old, page_name(path)) for path, new, old in olds if old]
    short = short_ids([item.id for _, item in held]) if pairs else {}
    found = []
    for _, new, old, page in sorted(pairs, key=lambda pair: pair[0], reverse=True)[:_MOST_PAIRS]:
        one, other = short[new.id], short[old.id]
        ways = f"`curate settle {one} replaces {other}`, or `curate settle {one} both {other}`"
        found.append(Snippet(f"- {one} {_said(new, page)}\n  {other} {_said(old)}\n  {ways}", ids=(new.id, old.id)))
    return found


def _said(item: ItemLine, page: str = "") -> str:
    words = item.words if len(item.words) <= _MOST_SAID else f"{item.words[:_MOST_SAID]}…"
    return f"{kind_of_item(item)}: {words} ({page}{', ' if page else ''}since {item.row.get('since', '?')})"


def page_name(path: str) -> str:
    """Return the name of a page: that of its file."""
    return path.rpartition("/")[2].removesuffix(".md")


def _date_of(item: ItemLine) -> str:
    """Return the day since which an item holds, or on which it was last said."""
    return max(item.row.get("since"), item.row.get("confirmed"))


def weight(kind: str, fields: ItemRow, today: str) -> float:
    """Return how much an item weighs, by the default weights; what is pinned weighs most.

    Args:
        kind: its type, or `howto` for a procedure.
        fields: its row of the ledger.
        today: the memory's day.
    """
    worth = _TYPE[kind] * _CONFIDENCE.get(fields.get("confidence"), 1) * _TRUST.get(fields.get("trust"), 1)
    if fields.get("pinned") == "yes":
        return 1 + worth
    age = max(0, days_of(today) - days_of(fields.get("confirmed") or fields.get("since") or today))
    fades = _FADES if fields.get("confidence") == "speculative" else 1
    recency = float(0.5 ** (age * fades / _HALF_LIFE_DAYS[kind]))
    return worth * max(_FLOOR, recency)


def short_ids(ids: list[str]) -> dict[str, str]:
    """Return each id's shortest beginning that no other id has, of `LEAST_ID` characters at least."""
    ordered = sorted(set(ids))
    shared = [0, *[len(os.path.commonprefix(pair)) for pair in pairwise(ordered)], 0]  # noqa: RUF071  no paths
    return {one: one[: max(LEAST_ID, shared[at] + 1, shared[at + 1] + 1)] for at, one in enumerate(ordered)}
