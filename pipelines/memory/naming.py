"""Which document a person or an agent means by a name, and which item by the beginning of its id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.errors import UnknownItem, UsageFault
from pipelines.memory.aliases import aliases_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pipelines.memory.documents import Document


def named_documents(documents: Mapping[str, Document], name: str, shown: Callable[[str], str] = str) -> list[str]:
    """Return the paths of the documents that a name means: their path, id, title or file name, whatever its case.

    A former name means a document only where no other has it now.

    Args:
        documents: every document by path.
        name: what a person or an agent calls it.
        shown: what people call the file at a path.

    Raises:
        UsageFault: there is none.
    """
    wanted = name.casefold().removesuffix(".md")
    found = [
        path
        for path, document in documents.items()
        if wanted in {*_ids(path, shown), document.title.casefold(), document.id.rpartition("/")[2].casefold()}
    ]
    found = found or [path for path, one in documents.items() if wanted in {n.casefold() for n in aliases_of(one)}]
    if not found:
        known = ", ".join(sorted(shown(path).removesuffix(".md") for path in documents)[:20])
        raise UsageFault(f"There is no document {name}.", f"There are: {known}." if known else "There is none yet.")
    return found


def named_item(prefix: str, *known: Iterable[str]) -> str:
    """Return the one item's id that begins so; every verb that takes an id asks here.

    Args:
        prefix: a whole id or its beginning, in any case, with or without blanks around it.
        known: ids, in groups: a group is looked through only where those before it have none that begins so.

    Raises:
        UnknownItem: there is none, or more than one; the sentence lists those.
    """
    wanted = prefix.strip().casefold()
    for group in known:
        found = sorted({ident for ident in group if ident and ident.startswith(wanted)})
        if wanted in found or len(found) == 1:
            return wanted if wanted in found else found[0]
        if found:
            raise UnknownItem(prefix, found)
    raise UnknownItem(prefix, ())


def _ids(path: str, shown: Callable[[str], str]) -> set[str]:
    return {one.removesuffix(".md").casefold() for one in (path, shown(path))}
