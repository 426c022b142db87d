"""Whether a text may hold a secret: a quick look, since the rules take longer to import than a context takes."""

from __future__ import annotations

_WORDS = """passw¦passp¦passc¦_pass¦-pass¦.pass¦pass:¦pass=¦pass =¦pass>¦pass(¦pass：¦pass"¦pass'¦pwd¦ pw¦_pw¦-pw¦
pw:¦pw=¦pw"¦pw'¦mot de passe¦secret¦token¦key¦credential¦creds¦auth¦bearer¦cookie¦login¦/pass¦/ pass¦
/pw¦/ pw¦ssh¦ftp¦rdp¦vnc¦account¦sign-in¦signin¦kennwort¦schlüssel¦contraseña¦wachtwoord¦hasło¦ароль¦
токен¦ключ¦ by '¦ by "¦密码¦密碼¦口令¦密钥¦密鑰¦令牌¦パスワード¦トークン¦비밀번호""".replace("\n", "").split("¦")
_AFTER = 64  # characters within which a name that is assigned something is followed by what assigns it
_RUN = 20  # no token of a provider is shorter
_TOKEN_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_BLANKED = bytes(byte if byte in _TOKEN_BYTES else 0x20 for byte in range(256))
_ODD = 16  # characters of the shortest token that stands right after its name
_DOTTED = 24  # characters of the shortest token with dots and signs in it
_SIGNED_BLANKED = bytes(byte if byte in _TOKEN_BYTES + b".~+=%/" else 0x20 for byte in range(256))
# Short tokens begin so, and options that passwords follow.
_STARTS = ("xox", "xapp-", "q~", "sig=", " -u", " -p", " -a", " --user")
# A name and its value stand apart by one of these, or the value has one; an apostrophe within a word is none.
_MARKS = """:¦=¦>¦|¦"¦`¦ '¦,'¦('¦{'¦-'¦',¦']¦ is ¦ was ¦ are ¦ to ¦→¦：¦＝¦ ist ¦ lautet ¦ est ¦ es ¦是¦为¦為¦は¦!¦$¦%¦
^¦&¦*""".replace("\n", "").split("¦")


def suspicious(text: str) -> bool:
    """Return whether a text may hold a secret; False is certain."""
    first, *more = text.split("<!--")  # comments are not shown; one that nothing closes is none
    text = first + "".join(part.partition("-->")[2] if "-->" in part else part for part in more)
    data, low = text.encode("utf-8", "replace"), text.lower()
    return (
        any(len(run) >= _RUN for run in data.translate(_BLANKED).split())
        or any(
            len(run) >= _DOTTED and not run.islower() and run != run.translate(None, b"0123456789")
            for run in data.translate(_SIGNED_BLANKED).split()
        )
        or ("://" in low and "@" in low)
        or any(start in low for start in _STARTS)
        or any(_assigned(low, word) for word in _WORDS)
    )


def _assigned(low: str, word: str) -> bool:
    at = -1
    while (at := low.find(word, at + 1)) >= 0:
        after = low[at : at + _AFTER].partition("\n")[0]
        if any(mark in after for mark in _MARKS) or "--" in low[max(0, at - 30) : at]:
            return True
        if any(len(part) >= _ODD for part in after.split()[1:]):
            return True
    return False
