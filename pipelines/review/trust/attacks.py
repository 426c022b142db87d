"""Signs of an attack in outside text, and text made inert.

The phrases decide nothing: the source of the text does. They are hints beside an entry of Review.md.
"""

from __future__ import annotations

import re
from typing import Final

from pipelines.text import spelled_in_tags, turns_direction, without_unseen

_KEPT: Final = r"(?:secrets?|passwords?|credentials?|tokens?|api ?keys?|private keys?|\.env|memory\.md|system prompt)"
_PHRASES: Final = (
    (
        "asks its reader to ignore instructions",
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.;!?]{0,60}\b(?:instructions?|rules?|prompts?|told)\b",
    ),
    (
        "poses as the system or the owner",
        r"[\[<][/|]{0,2} ?(?:system|inst|admin|owner|assistant|im_start)\b|\byou are (?:now|no longer) ",
    ),
    (
        "would send out secrets",
        rf"\b(?:send|post|upload|forward|e-?mail|include|share|submit|append)\b[^.;!?]{{0,90}}\b{_KEPT}\b",
    ),
    (
        "asks to hide something from the owner",
        r"\b(?:do not|don't|never|without) (?:tell|mention|inform|show|notify)",
    ),
    ("would run code from elsewhere", r"\b(?:curl|wget|base64)\b[^|\n]{0,200}\| ?(?:sudo )?\w{0,6}sh\b"),
)
_NOTES: Final = tuple((why, re.compile(pattern)) for why, pattern in _PHRASES)
MOST: Final = 20_000
"""How many characters of a text to check."""


def suspicion_of(text: str) -> str:
    """Return a warning about a text, as the end of a sentence that begins with *it*, or an empty string.

    Args:
        text: text of a log, unchanged.
    """
    if spelled_in_tags(text) or turns_direction(text):
        return "hides words in invisible characters"
    plain = " ".join(without_unseen(text[:MOST]).casefold().replace("*", "").split())
    return next((why for why, pattern in _NOTES if pattern.search(plain)), "")


# ---------------------------------------- text made inert
# A document loads nothing, runs nothing and links nowhere outside until a person wants it to.


_LINK: Final = re.compile(
    r"!?\[(?P<label>[^\[\]\n]{0,500})\]"
    r"\([ \t]{0,3}(?P<target><[^<>\n]{0,2000}>|(?:[^\s()<>]|\([^\s()<>]{0,200}\)){0,2000})(?P<title>[^()\n]{0,300})\)"
)
_LOCAL: Final = re.compile(r"(?!//)[\w./#%-]+")
_OPEN: Final = re.compile(r"\](?=\((?!(?!//)[\w./#%-]{1,2000}\)))")
_AUTOLINK: Final = re.compile(r"<([a-z][a-z0-9+.-]{1,31}:[^\s<>]{0,2000})>", re.IGNORECASE)
_RUNS: Final = re.compile(
    r"(?<![\w-])(?:java|vb)script\s{0,3}:\s{0,3}\S{1,2000}|"
    r"(?<![\w-])data:[a-z]{1,20}/[a-z0-9.+-]{1,40}[;,]\S{0,4000}",
    re.IGNORECASE,
)
_LOADS: Final = (
    r"/?(?:img|a|script|iframe|object|embed|link|meta|svg|math|form|input|button|base|style|video|audio|source|track|"
    r"picture|frame|frameset|applet|body|html|head|template|portal)\b"
)
# In a code span a tag is shown literally.
_TAG: Final = re.compile(rf"(?<!`)<(?={_LOADS})|<(?={_LOADS}(?![^<>`\n]{{0,200}}>`))", re.IGNORECASE)
_ROUNDS: Final = 4


def made_inert(text: str) -> str:
    """Return a text with its outside links and images disabled; labels stay, and addresses become code.

    Links within the memory stay. What would run (`javascript:`, `data:`) is removed; HTML that loads something is
    escaped.
    """
    if not any(mark in text for mark in ("](", "<", ":")):
        return text
    for _ in range(_ROUNDS):  # an image within a link is the link's label
        before, text = text, _LINK.sub(_plain, text)
        if text == before:
            break
    text = _OPEN.sub("] ", _RUNS.sub("", text)) if "](" in text else _RUNS.sub("", text)
    return _TAG.sub("&lt;", _AUTOLINK.sub(_address, text)).strip()


def _plain(found: re.Match[str]) -> str:
    label, target = found["label"].strip(), found["target"].strip("<>").strip()
    if _LOCAL.fullmatch(target) and not found["title"].strip():
        return found[0]
    if not target or _RUNS.match(target) or _LOCAL.fullmatch(target):
        return label
    return " ".join(filter(None, [label, f"(`{target.replace('`', '')}`)"]))


def _address(found: re.Match[str]) -> str:
    return "" if _RUNS.match(found[1]) else f"`{found[1].replace('`', '')}`"
