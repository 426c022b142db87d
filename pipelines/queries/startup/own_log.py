"""Which lines of a log are from outside: quoted, copied from a mail, a page or a tool, or an agent's echo of such."""

from __future__ import annotations

from pipelines.store.item import Trust
from pipelines.store.log import drawn, parse_entries, with_newlines
from pipelines.store.provenance import Provenance, source_in
from pipelines.store.session_state import load_seals

_FENCES = ("```", "~~~")


def own_log(path: str, day: str, text: str) -> str:
    """Return a log's text with every line blank that is not the owner's or the agent's own word.

    Args:
        path: the log's canonical path, which the seals of its lines name.
        day: its day.
        text: the log, or a part of it that begins with a line.
    """
    lines = without_quotations(with_newlines(text).split("\n"))
    entries = parse_entries(path, day, text)
    provenance = Provenance({path: entries}, load_seals())
    for entry in entries:
        said = entry.text.split("\n")
        outside = [provenance.word(entry, at, line)[0] is Trust.EXTERNAL for at, line in enumerate(said)]
        for at, is_outside in enumerate(outside, entry.start_line - 1):
            if is_outside or outside[0]:
                lines[at] = ""
    for at in drawn(lines):
        lines[at] = ""
    inside = {at for entry in entries for at in range(entry.start_line - 1, entry.end_line)}
    goes_on = False  # from above, where a line of structure (`project: NAME`) stands below what is from outside
    for at, line in enumerate(with_newlines(text).split("\n")):
        is_heading = line.startswith("#")
        if source_in(f"{line.rstrip(':')}:") if is_heading else goes_on and at not in inside:
            lines[at] = ""
        goes_on = not lines[at] if line.strip() else goes_on
    return "\n".join(lines)


def without_quotations(lines: list[str]) -> list[str]:
    """Return lines with quotations and code blank: what stands in them was copied in."""
    found, fence = [], ""
    for line in lines:
        bare = line.lstrip(" \t-*+•0123456789:.)")
        mark = bare[:3] if bare.startswith(_FENCES) else ""
        found.append("" if fence or mark or bare.startswith(">") else line)
        fence = ("" if mark == fence else fence) if fence else mark
    return found
