"""What of a log a session is shown: the owner's and the agent's own words.

Left out is what is from outside: quoted, copied from a mail, a page or a tool, or an agent's echo of such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.queries.startup.read import Snippet, Snippets
from pipelines.store.item import Trust
from pipelines.store.log import drawn, parse_entries
from pipelines.store.markdown import without_spans
from pipelines.store.provenance import Provenance, source_in
from pipelines.store.session_state import load_seals

if TYPE_CHECKING:
    from collections.abc import Iterable

_FENCES = ("```", "~~~")
_RULED = ("-|", "- |", ":|", ": |")
"""How the line under the head of a table ends; a table whose rows are told elsewhere ends with it."""


def own_entries(path: str, day: str, text: str, covered: Iterable[tuple[int, int]]) -> Snippets:
    """Return the entries of a log that are the owner's or the agent's own word, in order, below their headings.

    Args:
        path: the log's canonical path, which the seals of its lines name.
        day: its day.
        text: the log, or a part of it that begins with a line.
        covered: the first and last of lines that are told elsewhere.
    """
    entries = parse_entries(path, day, text)
    provenance = Provenance({path: entries}, load_seals())
    told = {number for first, last in covered for number in range(first, last + 1)}
    found, above = Snippets(), list[str]()
    for entry in entries:
        lines = entry.text.split("\n")
        hidden = {number - entry.start_line for number in told} | {*_copied(lines), *drawn(lines)}
        hidden |= {at for at, line in enumerate(lines) if provenance.word(entry, at, line)[0] is Trust.EXTERNAL}
        # Nothing of an entry is shown if its first line is not.
        kept = [line.rstrip() for at, line in enumerate(lines) if {0, at}.isdisjoint(hidden) and line.strip()]
        shown = without_spans("\n".join(kept), "<!--", "-->").rstrip()
        own = [one for one in entry.headings if one and day not in one and not source_in(f"{one.rstrip(':')}:")]
        if any(map(str.isalnum, shown)) and not shown.endswith(_RULED):  # an empty bullet is what a template left
            if new := [one for at, one in enumerate(own) if one not in above[at : at + 1]]:
                found.append(Snippet(f"## {': '.join(new)}", heading=2))
            above = own
            found.append(Snippet(shown))
    return found


def _copied(lines: list[str]) -> list[int]:
    """Return the indexes of quotations and code: what stands in them was copied in."""
    found, fence = list[int](), ""
    for at, line in enumerate(lines):
        bare = line.lstrip(" \t-*+•0123456789:.)")
        mark = bare[:3] if bare.startswith(_FENCES) else ""
        found += [at] if fence or mark or bare.startswith(">") else []
        fence = ("" if mark == fence else fence) if fence else mark
    return found
