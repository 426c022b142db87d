"""The pipeline's own output, come back in a log or a transcript: it is no evidence, or a memory would prove itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pipelines.store.evidence import without_pointer

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

_COMMENT: Final = re.compile(r"(?:<|&lt;)!-- (k[0-9a-f]{6,64})(?= )")
# A hit of `curate search`, a citation of its tools, evidence as comments and `curate why` have it.
_DOCUMENT: Final = (
    r"(?:Logs|Projects|Areas|Resources|Archives|Sessions|State)/[^\s:#]{1,200}\.(?:md|jsonl)|"
    r"(?:MEMORY|USER|SOUL|Review)\.md"
)
_HIT: Final = re.compile(
    rf"(?:{_DOCUMENT}):\d{{1,7}}(?:-\d{{1,7}})?(?:  \d{{4}}-\d\d-\d\d|  .{{0,60}}\btrust (?:owner|self|external)|"
    rf"[:)\]] |: )|"
    rf"(?:{_DOCUMENT})#L\d{{1,7}}(?:-L\d{{1,7}})?~[0-9a-f]{{4}}"
)
_LIST: Final = re.compile(
    rf"^\s*(?:[-*+]\s)?(?:\d{{1,2}}:\d{{2}}\s)?(?:\*\*\w+:\*\*\s)?(?:k[0-9a-f]{{10}}\b|(?:{_DOCUMENT}):\d)"
)
_CONTEXT: Final = re.compile(
    r"=== (?:Who you are|Who you work for|What you know|The project|Yesterday|Today so far|Found for your question)\b|"
    r"\bMemory health: "
)
_JSON: Final = re.compile(r'"(?:start_line|chunk_id|end_line)":\s?\d')


def is_echo(lines: Sequence[str], ids: Container[str]) -> bool:
    """Return whether lines of a log are what this program printed: items as rendered, hits, the startup context.

    Args:
        lines: the lines that a candidate rests on.
        ids: the ids of all items. A comment with another id was not written by a run, and is for the attack reader.
    """
    return any(_is_own(without_pointer(line), ids) for line in lines)


def _is_own(line: str, ids: Container[str]) -> bool:
    if any(found[1] in ids for found in _COMMENT.finditer(line)):
        return True
    return any(pattern.search(line) for pattern in (_HIT, _LIST, _CONTEXT, _JSON))
