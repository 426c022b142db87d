"""When two sentences count as the same: for a belief by their words, for a person's veto without articles, too."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

LINK: Final = re.compile(r"!?\[([^\]\[]*)\]\(([^()\s]*)\)")
_TAGS = re.compile(r"(?<!\s)(?:\s{1,8}#[^\W\d][\w/-]{0,64}){1,16}\s{0,8}$")
_OUTER = "()[]{}\"'`*_~.,;:!?…“”‘’«»"
_DASHES = frozenset("- -- / |".split())
_SIGNS = frozenset("<>=≠≤≥+±%$€£&|@#/^-−")


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """Return a form that is equal for near-exact repeats: without case, punctuation and Markdown.

    Numbers, names, negations and signs (`-1`, `@id`, `C++`, `<`) stay: texts that differ in one are never equal.
    """
    text = LINK.sub(r"\1", text) if "](" in text else text
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    words = []
    for word in text.casefold().split():
        bare = word
        if not word.isalnum():  # most words have no punctuation, and a run folds every item
            bare = word.strip(_OUTER)
            before = word[: word.find(bare)]
            # The first mark of `.5`, `.env` and `~5` is part of the word.
            bare = before[-1] + bare if bare and before[-1:] in {".", "~"} and before[-2:-1] != before[-1] else bare
        if bare not in _DASHES and any(c.isalnum() or c in _SIGNS for c in bare):
            words.append(bare)
    return " ".join(words)


_LEAD = re.compile(r"([^\n]{1,80}?)(?:[ ]+[—–-][ ]|:[ ])")


def lead_of(text: str) -> str:
    """Return what stands before the first dash or colon of a task, folded, or all of it: what it is about."""
    found = _LEAD.match(text)
    return folded(found[1] if found else text)


_REMARKS = re.compile(r"(?:\s{0,8}\([^()\n]{1,80}\)){1,8}\s{0,8}$")
_NOTE = re.compile(r"\[\[([^\[\]\n]+)\]\]\W{0,8}$")


def task_note(text: str) -> tuple[str, str]:
    """Return a task without the link to its note at its end, and where that leads; "" if it ends with none.

    What stands in brackets before the link is remarked of a day, such as `(3 days overdue)`, and left out.
    """
    found = _NOTE.search(text)
    return (_REMARKS.sub("", text[: found.start()]), found[1]) if found else (text, "")


def words_key(text: str) -> str:
    """Return a key that two sentences share only if they say the same in the same words.

    Case, spacing, Markdown and punctuation do not count. A question differs from a statement, and a link from one that
    leads elsewhere.
    """
    links = "".join(f"\x1f{target}" for _, target in LINK.findall(text)) if "](" in text else ""
    return folded(text) + links + "?" * text.rstrip().endswith("?")


def without_tags(text: str) -> tuple[str, frozenset[str]]:
    """Return a sentence without the `#tags` at its end, and these."""
    found = _TAGS.search(text) if "#" in text else None
    return (text[: found.start()], frozenset(found[0].casefold().split())) if found else (text, frozenset())


# The articles of English, German, Dutch, French, Spanish, Italian and Portuguese. They decide only that what a person
# deleted stays deleted; nothing is believed or confirmed by them.
_ARTICLES = frozenset(
    """a an the der die das den dem des ein eine einem einen einer eines de het een le la les un une el lo los las una
    unos unas il i gli uno o os as um uma uns umas""".split()
)
_ELIDED = re.compile(r"\b(?:l|un)['’](?=\w)")
_GAP = re.compile(r"\s+|(?<=\w)[-–—/]+(?=\w)")
_MARK = re.compile(r"[^\w<>=≠≤≥+±%$€£&@#^−.,:-]|[.,:](?!\d)|(?<!\d)[,:]|(?<=[^\W\d])\.|-(?!\d)|(?<=\w)-|_")
_APART = re.compile(r"(?<!\d) | (?!\d)")


@lru_cache(maxsize=4096)
def veto_key(text: str) -> str:
    """Return a key that sentences share if they differ only in articles, case, spacing, punctuation or Markdown."""
    words = [_MARK.sub("", word) for word in _GAP.split(_ELIDED.sub("", folded(text)))]
    return _APART.sub("", " ".join([word for word in words if word and word not in _ARTICLES] or words))
