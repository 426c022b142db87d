"""Which document a person or an agent means by a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipelines.memory.documents import Document


def named_documents(documents: Mapping[str, Document], name: str, shown: Callable[[str], str] = str) -> list[str]:
    """Return the paths of the documents that a name means: their path, id, title or file name, whatever its case.

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
    if not found:
        known = ", ".join(sorted(shown(path).removesuffix(".md") for path in documents)[:20])
        raise UsageFault(f"There is no document {name}.", f"There are: {known}.")
    return found


def _ids(path: str, shown: Callable[[str], str]) -> set[str]:
    return {one.removesuffix(".md").casefold() for one in (path, shown(path))}
