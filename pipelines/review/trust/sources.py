"""Whose words a line of a journal passes on, by a closed set of lead-ins. What has none is the agent's own."""

from __future__ import annotations

import re
from typing import Final

from pipelines.store.evidence import fold_markdown

_LABEL: Final = re.compile(
    r"(?:decision|decided|fact|rule|to-?do|risk|done|correction|action)s?\b[ ]?"
    r"(?:\((?:from|per|via|source:?|said by)[ ](?P<within>[^()]{2,80})\)[ ]?)?:[ ]{0,2}",
    re.IGNORECASE,
)
_ADDRESS: Final = r"<?(?:https?://[^\s<>]{1,200}?|www\.[^\s<>]{1,200}?|[\w.+-]{1,60}@[\w-]{1,60}\.[\w.-]{1,60}?)>?"
_OWN: Final = (
    r"(?:i|we|me|you|he|she|it|they|one|who|what|this|that|which|there|and|but|as|if|when|"
    r"(?:the[ ]|my[ ]|our[ ])?(?:user|owner|human|agent|assistant|team|group|chair))\b"
)
# What stands before the colon is a source where it has one of these shapes. A topic ("Root cause:") has none of them.
_LEAD: Final = re.compile(
    rf"""
    (?P<told>(?!{_OWN})[^:;!?\n]{{1,80}}?)[ ](?:says|said|writes|wrote|returns|returned|prints|printed|reported|
        stated|replies|replied|answers|answered|claims|claimed|told)(?:[ ]us)?,?
        (?::(?!\S)|[ ]that\b|:?[ ]?["“>])
  | (?:(?P<letter>(?:an?[ ]|the[ ])?(?:e-?mail|mail|message|letter|newsletter|comment|review|ticket|post|dm)[ ]
        (?:from|by)[ ][^:\n]{{1,80}}?)
      | (?P<issue>(?:github[ ]|gitlab[ ]|jira[ ])?issue[ ]?\#\d{{1,7}}[^:\n]{{0,60}}?)
      | (?:fetched|quot(?:ed?|ing)|pasted|copied|forwarded|downloaded|translated|excerpt)[ ](?:from|of|by)[ ]
        (?P<copied>{_ADDRESS}|[^:\n]{{1,80}}?)
      | according[ ]to[ ](?P<by>[^,:\n]{{1,80}}?)(?=[,:])
      | (?P<output>(?:the[ ])?(?:output|result|response|reply|stdout|stderr)[ ](?:of|from)[ ][^:\n]{{1,80}}?)
      | (?P<tool>web[_ ]?(?:fetch|search)|(?:curl|wget)(?:[ ]\S{{1,200}}){{0,9}}?|
          (?:tool|mcp|search|subagent)[ ](?:output|results?|reply)|mcp__\w{{1,80}})
      | (?:from[ ]|via[ ]|source:?[ ])?(?P<address>{_ADDRESS})(?:[ ][(][^()]{{1,60}}[)])?)[ ]?(?::(?!\S)|,[ ])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NOT_A_NAME: Final = re.compile(r"[^\w .,@/#:'-]|\s+|https?://|--+")
_LONGEST: Final = 60


def source_in(said: str) -> str:
    """Return the source that a sentence names before its words, or an empty string where it is the agent's own.

    Args:
        said: the sentence, or a heading with a colon behind it; a label may stand before it.
    """
    plain = fold_markdown([said])
    label = _LABEL.match(plain)
    if label and label["within"]:
        return _named(label["within"])
    found = _LEAD.match(plain, label.end() if label else 0)
    return _named(next(filter(None, found.groups()), "")) if found else ""


def _named(source: str) -> str:
    """Return a source as it may stand in a line: without marks, and not too long."""
    plain = " ".join(_NOT_A_NAME.sub(" ", source).split()).strip(" .,:'-/")
    return plain[:_LONGEST].rstrip() or "somebody else"
