"""What a session is shown holds no secret and nothing private, though no run has redacted the day's log yet.

Looking for secrets takes longer to import than all the rest of the context takes; so a look that only tells where there
can be none comes first.
"""

from __future__ import annotations

_WORDS = ("passw", "pwd", "secret", "token", "key", "credential", "kennwort", "authoriz", "bearer")
_AFTER = 48  # characters within which a name that is assigned something is followed by what assigns it
_RUN = 20  # no token of a provider is shorter
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_TABLE = bytes(byte if byte in _LETTERS else 0x20 for byte in range(256))


def veiled(text: str) -> str:
    """Return a document's text without secrets."""
    if not suspicious(text):
        return text
    from pipelines.store.secrets import veil

    return veil(text)


def veiled_log(text: str) -> str:
    """Return a log's text, or its end, without secrets and private parts."""
    low = text.lower()
    if "rivate" in low:
        from pipelines.store.secrets.redact import log_without_private

        opens, closes = low.find("<private"), low.find("</private>")
        if closes >= 0 and (opens < 0 or closes < opens):  # what is private begins before the part that was read
            text = f"[private]{text[closes + len('</private>') :]}"
        text = log_without_private(text)
    return veiled(text)


def suspicious(text: str) -> bool:
    """Return whether a text may hold a secret; False is certain."""
    data = _outside_comments(text).encode("utf-8", "replace")
    if any(len(run) >= _RUN for run in data.translate(_TABLE).split()):
        return True
    low = data.lower()
    if (b"://" in low and b"@" in low) or b" -u" in low or b" -p" in low or b" -a" in low:
        return True
    return any(_assigned(low, word.encode()) for word in _WORDS)


def _outside_comments(text: str) -> str:
    """Return a text without its comments, which the context does not show; one that nothing closes is none."""
    first, *more = text.split("<!--")
    return first + "".join(part.partition("-->")[2] if "-->" in part else part for part in more)


def _assigned(low: bytes, word: bytes) -> bool:
    at = low.find(word)
    while at >= 0:
        after = low[at : at + _AFTER].partition(b"\n")[0]
        if any(mark in after for mark in (b":", b"=", b">", b" is ", b" was ", b" are ")) or b"--" in low[at - 30 : at]:
            return True
        at = low.find(word, at + 1)
    return False
