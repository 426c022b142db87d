"""The items that a session sees listed at its start: what is open, with ids, and what somebody at work needs."""

from __future__ import annotations

import os
from itertools import pairwise

from pipelines.queries.startup.read import Snippet, days_of, ids_in_mark, live_item, open_item, tokens

# The weights of `pipelines.store.item`, which takes longer to import than all the rest of the context takes.
_TYPE = {"Todo": 0.5, "Risk": 0.6, "Question": 0.4, "Rule": 1.0, "Decision": 0.9, "Fact": 0.75, "howto": 0.9}
_HALF_LIFE_DAYS = {"Todo": 90, "Risk": 180, "Question": 90, "Rule": 120, "Decision": 60, "Fact": 60, "howto": 120}
"""Those of beliefs are for the start of a session, which wants what is current."""
_WORK = ("- Decision: ", "- Fact: ", "- Rule: ")
_SAID = 0.75
"""The share of a sentence's words that another has at which the other is said to tell it."""
_LONGEST_WORD = 12
"""What is longer is taken as pairs of characters: scripts without blanks, and addresses."""
_NAMED = 36
"""Tokens of an open item that a sentence tells already, that was due long ago, or that comes late: they name it."""
IN_FULL_TOKENS = 900
"""Tokens of open items in full words, and of quiet ones a quarter of that; those that come later are named."""
_LONG_AGO = 21
"""Days after which what is overdue and was not mentioned since is only named."""
_DATES = (" since=", " confirmed=")
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


Said = list[tuple[frozenset[str], tuple[str, ...]]]
"""Sentences that a session is shown: the words of each, and the ids of the items that it rests on."""


def sentences_of_now(texts: list[tuple[str, str]]) -> Said:
    """Return the sentences that runs wrote into the briefing, which a session reads first.

    Args:
        texts: path and text of each document.
    """
    lines = [line for path, text in texts if "/" not in path for line in text.split("\n")]
    return [(_words(line.partition("<!-- s:")[0]), ids_in_mark(line)) for line in lines if "<!-- s:" in line]


def tells(said: Said, text: str, ident: str = "") -> bool:
    """Whether nearly all words of an item stand in the sentences that rest on it, or, with its numbers, in one."""
    words = _words(text)
    numbers = {word for word in words if any(map(str.isdigit, word))}
    cited = {word for told, grounds in said if ident in grounds for word in told}
    least = max(1, _SAID * len(words))
    return len(words & cited) >= least or any(len(words & told) >= least and numbers <= told for told, _ in said)


def _words(text: str) -> frozenset[str]:
    found: list[str] = []
    for part in text.lower().split():
        word = part.strip(".,;:!?()\"'`*…")
        found += [word[at : at + 2] for at in range(len(word))] if len(word) > _LONGEST_WORD else [word]
    return frozenset(found)


def open_entries(
    texts: list[tuple[str, str]], today: str, said: Said, project: str = "", *, is_quiet: bool = False
) -> list[Snippet]:
    """Return an entry for each open todo, risk and question, in the order in which they matter.

    What is overdue or due soon comes first, nearest to today, so that old todos hide none of today's; then what belongs
    to the session's project; of all else the weightiest. Appointments that are over come last. What a sentence tells
    already, what was due weeks ago and not mentioned since, and what comes when the room is full, is only named.

    Args:
        texts: path and text of each document.
        today: the memory's day, `YYYY-MM-DD`.
        said: what the session is shown before.
        project: the path of the session's project, or empty.
        is_quiet: whether to return those that are quiet, and no others.
    """
    found, now = [], days_of(today)
    ids: list[str] = []
    for path, text in texts:
        ids += _ids_in(text)
        for line in text.split("\n"):
            head = line[:_HEAD].lower()  # nearly all lines are others, and few need a closer look
            likely = "todo" in head or "risk" in head or " section=questions" in line
            if likely and "<!-- k" in line and (item := open_item(line)):
                kind, words, ident, fields = item
                if ("quiet" in fields) is not is_quiet:
                    continue
                due, on = (fields.get(key, "") for key in ("due", "on"))
                is_overdue, has_passed = "" < due < today, "" < on < today
                day = due or ("" if has_passed else on)
                ahead = days_of(day) - now if day else _NEVER
                gap = abs(ahead) if ahead <= _SOON else _NEVER
                perhaps = fields.get("perhaps", "").replace("%20", " ").partition(":")[0]  # "done 2026-03-04: …"
                rank = (has_passed or bool(perhaps), gap, not is_overdue, path != project, -weight(kind, fields, today))
                notes = [f"due {due}{', overdue' if is_overdue else ''}"] if due else []
                notes += [f"was on {on}, outcome unknown" if has_passed else f"on {on}"] if on else []
                notes += [f"perhaps {perhaps.replace(' ', ' since ')}"] if perhaps else []
                is_old = is_overdue and now - days_of(max(_date_of(line), due)) > _LONG_AGO
                is_told = is_old or tells(said, words, ident)
                found.append((rank, ident, f"{kind}: {words}", f" ({', '.join([*notes, page_name(path)])})", is_told))
    short, entries, room = short_ids(ids), [], IN_FULL_TOKENS // (4 if is_quiet else 1)
    for _, ident, words, where, is_told in sorted(found):
        if (is_told or room < 0) and (size := tokens(words)) > _NAMED:
            words = f"{words[: len(words) * _NAMED // size].rstrip()}…"  # noqa: PLW2901  what is shown of it
        entries.append(Snippet(f"- {short[ident]} {words}{where}", ids=(ident,)))
        room -= entries[-1].size
    return entries


def work_entries(texts: list[tuple[str, str]], today: str, said: Said, project: str = "") -> list[Snippet]:
    """Return what somebody at work needs of the pages, page by page: procedures, decisions, facts and their rules.

    They are chosen by worth, which fades; the newest are looked at alone. What a sentence tells already, and what
    stands on the page of the session's project, is left out: the session sees it there.

    Args:
        texts: path and text of each document.
        today: the memory's day, `YYYY-MM-DD`.
        said: what the session is shown before; what is chosen is added.
        project: the path of the session's project, or empty.
    """
    held, dated = dict(texts), []
    for path, text in texts:
        if path != project and "/" in path and _front(text, "status").casefold() not in _OVER:
            dated += [(_date_of(line), path, line) for line in text.split("\n") if line.startswith(_WORK)]
    dated.sort(reverse=True)
    ranked = []
    for _, path, line in dated[:_MOST_LOOKED_AT]:
        item = live_item(line)
        if item is None or item[0] == "Question" or "quiet" in item[3]:
            continue
        kind, words, ident, fields = item
        worth = weight("howto" if fields.get("section") == "howto" else kind, fields, today)
        ranked.append((-worth, ident, path, kind, words))
    ranked.sort()
    paths = [path for _, _, path, *_ in ranked]
    spread = [(one[0] * _EACH_MORE ** paths[:at].count(paths[at]), *one[1:]) for at, one in enumerate(ranked)]
    chosen, room = dict[str, list[Snippet]](), WORK_TOKENS
    for worth, ident, path, kind, words in sorted(spread):
        entry = Snippet(f"- {kind}: {words}", f"{-worth:.6f}", ids=(ident,))
        if entry.size <= room and not tells(said, words, ident):
            room -= entry.size
            said.append((_words(words), ()))
            chosen.setdefault(path, []).append(entry)
    pages = [path for path in dict.fromkeys([path for _, path, _ in dated]) if path in chosen]  # the latest news first
    return [one for path in pages for one in (Snippet(_head_of(path, held[path]), heading=2), *chosen[path])]


def _head_of(path: str, text: str) -> str:
    """Return the line above what is shown of a page: its title, where it stands, and what it is for."""
    title, purpose = _front(text, "title") or page_name(path), _front(text, "purpose")
    return f"## {title} ({path}){': ' if purpose else ''}{purpose}"


def _front(text: str, key: str) -> str:
    """Return a value of a page's front matter, or an empty string."""
    return text[:2048].partition(f"\n{key}: ")[2].partition("\n")[0].strip() if text.startswith("---") else ""


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
        pairs += [(new[3].get("since", ""), new, old, page_name(path)) for new, old in olds if old]
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


def page_name(path: str) -> str:
    """Return the name of a page: that of its file."""
    return path.rpartition("/")[2].removesuffix(".md")


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
    shared = [0, *[len(os.path.commonprefix(pair)) for pair in pairwise(ordered)], 0]  # noqa: RUF071  no paths
    return {one: one[: max(LEAST_ID, shared[at] + 1, shared[at + 1] + 1)] for at, one in enumerate(ordered)}
