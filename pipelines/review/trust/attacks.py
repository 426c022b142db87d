"""The attack reader: patterns as data, held against the skeleton of a text. It asks nobody.

They stand in `attacks.toml`; those of other languages than English in `tongues.toml`.
"""

from __future__ import annotations

import base64
import binascii
import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from pipelines.store.item import fold
from pipelines.text import spelled_in_tags, turns_direction, without_unseen

_PIECE: Final = re.compile(r"<(gap|always|person|keeper|address|secret|private|send)>")
_COMMENT: Final = re.compile(r"<!--(?P<told>.{0,4000}?)-->", re.DOTALL)
_OWN_COMMENT: Final = re.compile(
    r" (?:Sessions/[^<>\s]+\.jsonl#L\d{1,9}~[0-9a-f]{8}(?: [a-z]+~[0-9a-f-]+)?|allow-secret) "
)
_WORDS: Final = 4
_CLAUSE: Final = re.compile(r"[.;!?,:]")
_BEFORE: Final = 60
"""So many characters above a match are looked at for the beginning of its clause."""


@dataclass(frozen=True)
class Attack:
    """One pattern; `attacks.toml` says what the fields mean, and `tongues.toml` holds those of other languages."""

    id: str
    why: str
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None

    def is_in(self, plain: str) -> bool:
        """Return whether a skeleton reads like this attack, and no clause of it forbids the very thing."""
        for found in self.pattern.finditer(plain):
            clause = _CLAUSE.split(plain[max(0, found.start() - _BEFORE) : found.start()])[-1]
            if not (self.unless and self.unless.search(clause + found[0])):
                return True
        return False


FILES: Final = [Path(__file__).with_name(name) for name in ("attacks.toml", "tongues.toml")]
"""The patterns as they are written, those of other languages after the rest."""


@lru_cache(maxsize=1)
def load_attacks() -> tuple[Attack, ...]:
    """Return the patterns; the files are read once, as one."""
    raw = tomllib.loads("\n".join(file.read_text(encoding="utf-8") for file in FILES))
    attacks = []
    for one in raw["attack"]:
        pattern = one["pattern"]
        while _PIECE.search(pattern):
            pattern = _PIECE.sub(lambda found: raw["pieces"][found[1]], pattern)
        unless = re.compile(one["unless"]) if "unless" in one else None
        attacks.append(Attack(one["id"], one["why"], re.compile(plain_letters(pattern)), unless))
    return tuple(attacks)


def attack_in(text: str) -> str:
    """Return why a text reads like an attack, as the end of a sentence that begins with *it*; empty where it does not.

    Args:
        text: words of a log, as they stand there.
    """
    if len(text) > MOST:
        return "is too long to be looked through"
    if spelled_in_tags(text) or turns_direction(text):
        return "hides words in characters that no reader sees"
    if any(_hides(found["told"]) for found in _COMMENT.finditer(text)):
        return "hides words in a comment"
    bare = _COMMENT.sub(lambda found: " " if _OWN_COMMENT.fullmatch(found["told"]) else found[0], text)
    plain = skeleton(bare)
    return next((one.why for one in load_attacks() if one.is_in(plain)), "")


def _hides(told: str) -> bool:
    """Whether a comment says something to whoever reads the file as text."""
    return not _OWN_COMMENT.fullmatch(told) and len(told.split()) >= _WORDS


# ---------------------------------------- A text as the attack reader sees it
# disguises undone, so that one pattern meets all spellings of a word.


MOST: Final = 20_000
"""Characters of one entry that are read. A longer one is no entry of a journal."""
# Letters of other alphabets that look like ours; what NFKC does not fold.
_LIKE: Final = str.maketrans(
    "аеорсухіјѕһԁԛԝьвкмнтгпαορνικτυχεγɡıℓ‘’‚‛“”„–—−․",
    "aeopcyxijshdqwbbkmhtrnaopvikTuxeygil''''\"\"\"---.".lower(),
)
_MARKUP: Final = re.compile(r"[*_~`]{1,3}")
_SPACED: Final = re.compile(r"(?<!\w)(?:\w[ .\-]){5,200}\w(?!\w)")
_ENCODED: Final = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,4000}={0,2}(?![A-Za-z0-9+/=])")
_WORDY: Final = 0.12


def skeleton(text: str) -> str:
    """Return a text in lower case on one line, without marks of emphasis, unseen characters and lookalike letters.

    What tag characters spell, and what base64 holds where that is a sentence, is put behind it.
    """
    text = text[:MOST]
    hidden = [spelled_in_tags(text), *(_decoded(found[0]) for found in _ENCODED.finditer(text))]
    plain = plain_letters(without_unseen(" ".join([text, *filter(None, hidden)])).casefold())
    plain = fold(_MARKUP.sub("", plain))
    spelled = [re.sub(r"[ .\-]", "", found[0]) for found in _SPACED.finditer(plain)]
    return " ".join([plain, *spelled])


def plain_letters(text: str) -> str:
    """Return a text without accents and other marks above letters, and with lookalike letters as ours.

    Patterns are written with it, too, so that they may spell a word as its language does.
    """
    if text.isascii():
        return text
    bare = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return unicodedata.normalize("NFKC", bare).casefold().translate(_LIKE)


def _decoded(text: str) -> str:
    """Return the sentence that base64 holds, or an empty string: most runs of letters are names, hashes and keys."""
    try:
        told = base64.b64decode(text + "=" * (-len(text) % 4)).decode("ascii")
    except (ValueError, binascii.Error):
        return ""
    return told if told.isprintable() and told.count(" ") >= _WORDY * len(told) - 1 and " " in told else ""


# ---------------------------------------- text made inert
# what a document shows loads nothing, runs nothing and leads nowhere until a person wants it to.


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
# Within a code span a tag is shown as it is written.
_TAG: Final = re.compile(rf"(?<!`)<(?={_LOADS})|<(?={_LOADS}(?![^<>`\n]{{0,200}}>`))", re.IGNORECASE)
_ROUNDS: Final = 4


def made_inert(text: str) -> str:
    """Return a text whose links and images lead nowhere; their words stay, and an address stays as code.

    A link within the memory stays one. What would run (`javascript:`, `data:`) is dropped; HTML that loads something
    is shown as its text.
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
