"""Which document a person or an agent means by a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.memory.documents import Document


def named_documents(documents: Mapping[str, Document], name: str) -> list[str]:
    """Return the paths of the documents that a name means: their path, id, title or file name, whatever its case.

    Raises:
        UsageFault: there is none.
    """
    wanted = name.casefold().removesuffix(".md")
    found = [
        path
        for path, document in documents.items()
        if wanted in {document.id.casefold(), document.title.casefold(), document.id.rpartition("/")[2].casefold()}
    ]
    if not found:
        known = ", ".join(sorted(document.id for document in documents.values())[:20])
        raise UsageFault(f"There is no document {name}.", f"There are: {known}.")
    return found
