"""Which lines of a log are from outside: quoted, copied from a mail, a page or a tool, or an agent's echo of such.

Telling it takes longer to import than a context takes; so a quick look comes first, which only says where none can be.
"""

from __future__ import annotations

# A label, which names no source; a longer lead-in before it, such as `Rule (from X):`, is looked at.
_LABELS = ("decision:", "decided:", "fact:", "rule:", "todo:", "risk:", "done:", "correction:", "action:")
# The words and signs with which `pipelines.store.provenance` finds a source before what it says.
_SAYS = (
    " says", " said", " writes", " wrote", " return", " print", " reported", " stated", " repli", " answer", " claim",
    " told", "according to", "://", "www.", "@",
)  # fmt: skip
_FENCES = ("```", "~~~")


def own_log(path: str, day: str, text: str) -> str:
    """Return a log's text with every line blank that is not the owner's or the agent's own word.

    Args:
        path: the log's canonical path, which the seals of its lines name.
        day: its day.
        text: the log, or a part of it that begins with a line.
    """
    if not any(_may_be_from_outside(line) for line in text.split("\n")):
        return "\n".join(without_quotations(text.split("\n")))
    from pipelines.store.item import Trust
    from pipelines.store.log import parse_entries, with_newlines
    from pipelines.store.provenance import Provenance, source_in
    from pipelines.store.session_state import load_seals

    lines = without_quotations(with_newlines(text).split("\n"))
    entries = parse_entries(path, day, text)
    provenance = Provenance({path: entries}, load_seals())
    for entry in entries:
        said = entry.text.split("\n")
        outside = [provenance.word(entry, at, line)[0] is Trust.EXTERNAL for at, line in enumerate(said)]
        for at, is_outside in enumerate(outside, entry.start_line - 1):
            if is_outside or outside[0]:
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


def _may_be_from_outside(line: str) -> bool:
    """Whether a line may be, or may begin, what is from outside; False is certain."""
    if " external~" in line or " ^k" in line:
        return True
    said = line.partition("<!--")[0].lower()
    rest = said.lstrip(" \t-*+•0123456789:.)[x]#")
    if said.startswith("#"):
        rest = f"{rest}:" if rest and not rest.startswith("session ") else ""
    if rest.startswith("project:"):  # `[project: NAME] **user:** ...`
        rest = rest.partition("] ")[2].lstrip("*")
    starts = ("user:** ", "assistant:** ")
    rest = next((rest[len(start) :] for start in starts if rest.startswith(start)), rest)
    rest = next((rest[len(label) :] for label in _LABELS if rest.startswith(label)), rest)
    return any(word in rest for word in _SAYS) or any(
        not (after[:1].isalnum() or after[:1] in {"_", "/"}) for after in rest.split(":")[1:]
    )
