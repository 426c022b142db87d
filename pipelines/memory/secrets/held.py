"""Documents of people's that hold a secret: left as they are, kept out of every commit, and named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.memory.files import open_regular
from pipelines.memory.names import real_path
from pipelines.memory.secrets.files import inspect
from pipelines.memory.secrets.finding import find_secrets
from pipelines.memory.secrets.redacting import Found, told
from pipelines.memory.snapshot import Warned
from pipelines.text import plain_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pipelines.memory.snapshot import Snapshot

_ENDS: Final = (b" -->", b" status=archived -->")
"""What stands behind the sign in nearly every comment of a rule's item, that of an archive included."""


def without_held(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot in which documents that hold a secret count as unreadable: nothing is written over them."""
    # What holds nothing whole holds nothing in its parts, and is looked through faster. What the rules sign with, at
    # the end of a comment, looks like the end of an address in every line; taken out with its blanks, it hides none.
    whole = "\n\n".join(one.text for one in snapshot.documents.values()).encode()
    for end in _ENDS:
        whole = whole.replace(b" by=rules@1" + end, end)
    if not find_secrets(whole):
        return snapshot
    held = [
        Warned(path, why, pending=True, shown=snapshot.shown(path))
        for path, document in snapshot.documents.items()
        if (why := _why(document.text))
    ]
    if not held:
        return snapshot
    documents = {path: one for path, one in snapshot.documents.items() if path not in {warned.path for warned in held}}
    return replace(snapshot, documents=documents, warnings=(*snapshot.warnings, *held))


def still_held(root: Path, paths: Iterable[str], said: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence for each of these files that still holds a secret, and that no sentence names yet.

    A log that held one is redacted by the run itself, so that nothing is left to say of it.
    """
    found = []
    for path in paths:
        try:
            file = open_regular(root, path)
        except BadFile:
            continue
        if file:
            with file:
                secrets, shown = inspect(file).secrets, real_path(root, path)
            if secrets and not any(sentence.startswith(f"{plain_line(shown)} holds ") for sentence in said):
                found.append(str(Warned(path, held_because(secrets), pending=True, shown=shown)))
    return tuple(found)


def held_because(secrets: Sequence[Found]) -> str:
    """Return why a file is not committed, as the end of a sentence that begins with its path."""
    lines = sorted({one.line for one in secrets})
    where = f"line {lines[0]}" if len(lines) == 1 else f"{len(lines)} lines, the first is line {lines[0]}"
    return (
        f"holds {told(secrets)}, {where}; it was left as it is and is not committed: take it out, or mark its line "
        "with <!-- allow-secret -->"
    )


def _why(text: str) -> str:
    data = text.encode()
    spans = find_secrets(data)
    return held_because([Found(one.rule, "", data.count(b"\n", 0, one.start) + 1) for one in spans]) if spans else ""
