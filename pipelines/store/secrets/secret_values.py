"""Whether a value is a secret: by what it looks like, and by what stands around it."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import reduce
from itertools import pairwise
from operator import ne
from typing import TYPE_CHECKING, Final

from pipelines.store.secrets.secret_rules import NAME_REACH, UUIDS, Rule, load_rules

if TYPE_CHECKING:
    from collections.abc import Callable


LONGEST: Final = 4096
_LOOKED_AT = 80
"""Bytes of a value that are examined."""
_OUTER = re.compile(rb'(?<!\\)(?:"|(\\+)n)')
_QUOTED = re.compile(rb"""(\\{0,7}["'`])(?:(.*?)(?<!\\)\1)?""")
# Scripts without blanks between words, and their signs, end a value: they begin with these bytes.
_BARE = re.compile(rb"""(?:[^\s"'`,;<>|&\xe3-\xed\xef]|&(?=\w)(?!\w+[=;]))+""")
# An escaped end of a line, a string or a cell; any other backslash belongs to the value.
_ESCAPED_END = re.compile(rb"""\\(?:[nrtu"'`]|$)""")
_PLACEHOLDER = re.compile(
    rb"<.*|\$[A-Z_({].*|\{.*|\[.*|%[sd]|%[({].*|%\w+%|#\{.*|[@&][A-Z.-]+|\(.*|[x*.\xe2\x80\xa6_=#-]+"
    rb"|(?:your|insert|enter|dummy|fake)[-_ ].*|.*[-_]here"
    rb"|!(?:vault|secret|env|env_var|ref|sub|getatt)|(?:ctrl|cmd|alt|shift|meta)[+-].*"  # tags of YAML; shortcuts
    rb"|.*\[[^\]\s]{0,40}(?:a-z|A-Z|0-9).*"  # a regular expression
    rb"|.*(?:redacted|placeholder|\.\.\.|\xe2\x80\xa6|####|xxxx|changeme|\*\*\*).*",
    re.IGNORECASE | re.DOTALL,
)
_CODE = re.compile(rb"[A-Za-z_$][\w$]*(?:\??(?:\.|->|::)[A-Za-z_$][\w$]*)*(?:[(\[{].*|[)\]}!?;:.]*)", re.DOTALL)
_WORD = re.compile(rb"[A-Za-z\x80-\xff_'./-]+")
_TELLING = re.compile(
    rb"(?:[a-z][a-z0-9+.-]*://|mailto:|(?:@(?:file:)?)?[~.]{0,2}/|[A-Z]:[\\/]|arn:|\d{4}-\d\d-\d\d|\d\d?/\d\d?/\d{2,4}|v?\d+\.\d+).*"
    rb"|[\w./~:-]+\.[a-z]{2,5}(?::\d[\d:-]*)?",  # a file, perhaps a line of it
    re.IGNORECASE | re.DOTALL,
)
# Where something is, or a path of names: `/home/ada/src`, `agent:main:web-2`.
_PLACE = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*://.*|(?:/[\w.@+-]+){2,}/?|(?:[a-z][a-z_-]*:){2}[\w:.-]+", re.DOTALL)
_UUID = re.compile(UUIDS.encode(), re.IGNORECASE)
_HEX = re.compile(rb"(?:0x)?[0-9a-f]+|[0-9A-F]+|0x[0-9a-fA-F]{40}")
# Crockford's alphabet, which leaves out i, l, o and u, is for identifiers that people read.
_BASE32 = re.compile(rb"[0-9a-hjkmnp-tv-z]{26,40}|[0-9A-HJKMNP-TV-Z]{26,40}")
_SIGN = re.compile(rb"(?<=[A-Za-z0-9])[!$%^&*]")
_DIGIT_AND_LETTER = re.compile(rb"\A(?=\D*+\d)[^A-Za-z]*+[A-Za-z]")
# Names in programs: `not_supported`, `PASSWORD_AUTH`.
_NAMING = re.compile(
    rb"[A-Za-z]+(?:_[A-Za-z]+)+|(?=[A-Za-z-]*+\Z)[A-Za-z-]*?(?:password|passwd|secret|token)[A-Za-z-]*", re.IGNORECASE
)
# What precedes the name in `postgres://ada:<password>@db.internal` and in `${DB_PASSWORD:?is missing}`.
_INSIDE = re.compile(rb"(?::<|\$\{)\w*\Z")
_OPENED = re.compile(rb"""[({]\s{0,40}\\{0,7}["'`][\w.-]{0,30}\Z""")
"""What precedes a name that is the first argument."""
_CALLED = re.compile(
    rb"[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)*?(?:(?P<called>[(\[{].*)|(?:\.|->|::)[A-Za-z_]\w*)", re.DOTALL
)
# A word or two, perhaps followed by a number: `NorthwindPortal2`.
_NAMES = re.compile(rb"(?:[A-Za-z\x80-\xff]++|[0-9]++)(?:[-_.:/@ ]?[0-9]++|[-_.:/@ ][A-Za-z\x80-\xff]++)*+")
# The parts of a name in a program, and those of them that are words: `Web3AuthOptions`.
_NAME_PARTS = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_NAME_WORDS = re.compile(rb"[A-Z]?[a-z]{3,}")
_SIZE = 3
# A name in a program: `publicKeyBase64FromPem`.
_CAMEL = re.compile(
    rb"(?=(?:[^a-z]*+[a-z]){12})"
    rb"(?:[A-Z]?[a-z]{2,}+|(?:Of|To|In|On|By|Is|Id|As|At|Or)|[A-Z]{2,6}(?![a-z])|[A-Z]{0,6}[0-9]{1,4}(?![a-z0-9]))++"
)
# Words that a person glues together, and no type of a field: `FourGluedWords`.
_GLUED = re.compile(rb"(?=[A-Za-z]{12})[A-Z][a-z]+(?:[A-Z][a-z]+){2,}(?![\w(<\[]|[.:]\w| =)")
# Rare in CamelCase names, frequent in random text.
_SINGLE = re.compile(rb"[A-Z][a-z](?=[A-Z])")
_CAPITALS = re.compile(rb"[A-Z]{2,}")
_ODD = 2
_DIGITS = 2
"""Field names have fewer digits."""
_PASSWORD = 6
_SECRET = 8
_TOKEN = 12
_LONG = 16
_MIXED = 0.25
_BEGUN = 0.15
"""The same where a beginning says who issued it."""
_RUNS = re.compile(rb"[A-Za-z0-9]{11,}")
"""Without a sign among them; a name that a cluster makes up has ten such characters."""
_BITS = 3.2
_LEAST_BITS = 3.0
_UNNAMED = 20
_ISSUER = re.compile(rb"\A(?:[A-Za-z][A-Za-z0-9]{0,9}[_-]){1,3}(?=[A-Za-z0-9]{20,}\Z)")
"""A word or two before a token that say who issued it."""
_CHANGING = 0.38
_DOTTED = 30
_COUNTING = 0.75
# Identifiers that look random: of models' messages and calls, of objects at Stripe and of files at Google; public keys.
_ID = re.compile(
    rb"(?:[a-z]+_)*(?:toolu|msg|req|call|resp|fc|rs|ws|run|step|thread|asst|batch|chatcmpl|cmpl|file|evt|cus|pi|pm|in|sub|si"
    rb"|ch|re|cs|price|prod|acct|txn|seti|src|card|plan)[_-].*|1[\w-]{29,44}|AAAA.*|Qm[A-Za-z0-9]{44}|sha\d+-.*",
    re.DOTALL,
)

_ADDRESS = re.compile(rb"(?:bc|tb|ltc|addr|addr_test|stake|npub|cosmos|osmo)1[02-9ac-hj-np-z]{26,110}")
"""A public address or key of a currency or of Nostr."""
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_KEY_58 = re.compile(rf"[{_BASE58}]{{43,44}}".encode())


def value_at(data: bytes, start: int) -> tuple[int, int, bool]:
    """Return the start and end of a value (equal if there is none), and whether it is quoted.

    Args:
        data: the text.
        start: the end of the name and separator.
    """
    if quoted := _QUOTED.match(data, start, start + LONGEST):
        start, depth = quoted.end(1), len(quoted[1]) - 1
        # Within JSON, the string around it may end first, or the line of the text that it holds.
        ends = _OUTER.finditer(quoted[2] or b"") if depth else ()
        if quoted[2] is not None and not any(len(one[1] or b"") <= depth for one in ends):
            return *quoted.span(2), True
    found = _BARE.match(data, start, start + LONGEST)
    if found is None:
        return start, start, False
    escaped = _ESCAPED_END.search(data, start, found.end())
    bare = data[start : escaped.start() if escaped else found.end()]
    return start, start + len(bare.rstrip(b").]}:!?*")), False


def believed(rule: Rule, name: re.Match[bytes], data: bytes) -> tuple[int, int] | None:
    """Return the position of an assignment's value, if it is likely to be a secret.

    Args:
        rule: its `value` selects the test.
        name: the match of its pattern: the name and what precedes the value.
        data: the text.
    """
    begin, end, quoted = value_at(data, name.end())
    if end - begin < _PASSWORD:
        return None
    value = data[begin : min(end, begin + _LOOKED_AT)]
    separator = name["pair"] or name["call"] or name["cell"] or name["sep"] or b""
    ends = [at for at in map(name.start, ("pair", "type", "call", "cell", "sep")) if at >= 0]
    words = data[name.start() : min(ends, default=name.end())]
    if load_rules().names.search(words, 3) or _hides_nothing(value) or _ADDRESS.fullmatch(data[begin:end]):
        return None
    if _PLACE.fullmatch(value):
        return None
    option = data[max(0, name.start() - 30) : name.start()].rpartition(b" ")[2].startswith(b"--")
    is_said = _is_said(value, quoted=quoted and data[begin - 1 : begin] != b"`")
    if name["blank"] and not (option or is_said or (rule.value == "key" and quoted and _is_readable_key(value))):
        return None
    # Environment variables are in capitals: what follows `=` is then a value, not code.
    variable = re.compile(rb"[A-Za-z0-9_]*").match(data, name.start())
    assigned = (
        quoted
        or option
        or bool(name["pair"])
        or (separator == b":" and _GLUED.match(data, begin) is not None)
        or (separator[-1:] == b"=" and variable is not None and variable[0].isupper())
    )
    is_other = (
        (separator == b"->" and value.endswith(words.strip()))  # a branch that is pushed: `fix-secrets-2 -> …`
        or (value[:1] in b"@?" and _INSIDE.search(data, max(0, name.start() - NAME_REACH), name.start()))
        or (name["call"] == b"," and words[-1:].isalnum())  # connect(user, password, "localhost")
        # ["login", "must-pass", "role-claim"], but not setenv("DB_PASS", "…")
        or (
            name["call"] == b","
            and not _OPENED.search(data, max(0, name.start() - NAME_REACH), name.start())
            and is_name(value)
        )
        or (data[begin - 1 : begin] == b"`" and _calls(value))  # code in prose
    )
    is_secret = not is_other and _BELIEFS[rule.value](value, quoted=quoted, assigned=assigned)
    return (begin, end) if is_secret else None


def checked(rule: Rule, value: bytes) -> bool:
    """Return whether a pattern's match passes the rule's own test."""
    if _ADDRESS.fullmatch(value):
        return False
    value = value[:_LOOKED_AT]
    return not _hides_nothing(value) and not _is_sequence(value) and _CHECKS[rule.check](value)


def is_name(value: bytes) -> bool:
    """Return whether a value may be a name: words, perhaps with numbers, a path or an address."""
    return bool(_TELLING.fullmatch(value) or _NAMES.fullmatch(value)) and not looks_random(value)


def is_identifier(value: bytes) -> bool:
    """Return whether a value is a name in a program: words with capitals, perhaps with digits or letters between.

    Of random tokens of letters and digits, one of three hundred reads so.
    """
    if not value.isalnum() or value.islower():
        return False
    letters = sum(map(len, re.findall(rb"[A-Za-z]+", value)))
    words = sum(map(len, _NAME_WORDS.findall(value)))
    return _SIZE * words >= 2 * letters > 0 and len(value) > _SIZE * len(_NAME_PARTS.findall(value))


def _hides_nothing(value: bytes) -> bool:
    return value.lower() in load_rules().placeholders or _PLACEHOLDER.fullmatch(value) is not None


def _is_said(value: bytes, *, quoted: bool) -> bool:
    """Whether a value that stands right after its name, as in `login ada password …`, can be no word of a sentence."""
    if len(value) >= _LONG and looks_random(value):
        return not (_HEX.fullmatch(value) or _UUID.fullmatch(value) or _ID.fullmatch(value))
    is_odd = quoted or _SIGN.search(value)
    return bool(is_odd and _DIGIT_AND_LETTER.search(value)) and not is_name(value) and not _calls(value)


def _password(value: bytes, *, quoted: bool, assigned: bool) -> bool:
    if len(value) < _PASSWORD or (quoted and re.search(rb"\s", value)):
        return False
    if not assigned and (_TELLING.fullmatch(value) or (b"/" in value and is_name(value))):
        return False
    if assigned:
        code = None if quoted else _CALLED.fullmatch(value)
        return not _NAMING.fullmatch(value) and (code is None or code["called"] is None)
    return _mixed(value) and not _calls(value)


def _secret(value: bytes, *, quoted: bool, assigned: bool) -> bool:
    if len(value) < _SECRET or not _DIGIT_AND_LETTER.search(value) or (not assigned and _CODE.fullmatch(value)):
        return looks_random(value) and (assigned or (value.isalnum() and len(value) >= _LONG))
    return _password(value, quoted=quoted, assigned=assigned)


def _token(value: bytes, *, quoted: bool, assigned: bool) -> bool:
    if len(value) < _TOKEN or (quoted and re.search(rb"\s", value)) or _TELLING.fullmatch(value):
        return False
    if (is_name(value) and not value.isdigit()) or _is_sequence(value):
        return False
    is_mixed, bits = _DIGIT_AND_LETTER.search(value) is not None, entropy(value)
    if not assigned and is_identifier(value.lstrip(b"!")):
        return False
    if not assigned and not _CODE.fullmatch(value):  # code could not be written so
        assigned = len(value) >= _UNNAMED
    varied = value.isalnum() and not value.isalpha() and bits >= _LEAST_BITS and (assigned or is_mixed)
    if assigned and is_mixed and len(value) > _TOKEN:
        varied |= bits > _BITS
    return (looks_random(value) or varied) and (assigned or not _calls(value))


def _is_readable_key(value: bytes) -> bool:
    """Whether a value that is said to be a key may be one that people read: `harbor-lantern-2031`."""
    digits = sum(chr(byte).isdigit() for byte in value)
    return len(value) >= _LONG and digits > _DIGITS and _READABLE.fullmatch(value) is not None


_READABLE = re.compile(rb"(?=[^a-z]*+[a-z])[A-Za-z0-9]++(?:-[A-Za-z0-9]++)++")
_BELIEFS: Final[dict[str, Callable[..., bool]]] = {
    "password": _password,
    "secret": _secret,
    "token": _token,
    "key": lambda value, **how: _token(value, **how) or _is_readable_key(value),
}


def _mixed(value: bytes) -> bool:
    """Whether a value has a digit and a letter, or a sign that is not in words."""
    return bool(_DIGIT_AND_LETTER.search(value) or (_WORD.fullmatch(value) is None and not _CODE.fullmatch(value)))


def _calls(value: bytes) -> bool:
    """Whether a value is code: a name that is called, indexed or reached through a dot."""
    found = _CALLED.fullmatch(value)
    return found is not None and (found["called"] is not None or sum(chr(byte).isdigit() for byte in value) < _DIGITS)


_KINDS = b"l" * 0x30 + b"d" * 10 + b"l" * 7 + b"u" * 26 + b"l" * 165
"""The kind of each byte: a digit, an upper-case letter, or any other."""
_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())


def _changes(kinds: bytes) -> int:
    return sum(map(ne, kinds, kinds[1:]))


def looks_random(value: bytes, least: float = _MIXED) -> bool:
    """Return whether a value looks random: it switches between kinds of characters as no word does.

    Args:
        value: the value.
        least: how often, for each of its characters.
    """
    kinds = value.translate(_KINDS, _SIGNS)
    changes = _changes(kinds)
    if len(kinds) < _TOKEN - 2 or changes < least * len(kinds) or entropy(value) < _BITS - 0.6:
        return False
    return b"d" in kinds or min(len(_SINGLE.findall(value)), len(_CAPITALS.findall(value))) >= _ODD


def entropy(value: bytes) -> float:
    """Return the Shannon entropy of a value's bytes, in bits per byte."""
    counts, size = Counter(value), len(value)
    return -sum(count / size * math.log2(count / size) for count in counts.values())


def _unnamed(value: bytes) -> bool:
    """Whether a value looks random without anything around it that says so."""
    if _HEX.fullmatch(value) or _BASE32.fullmatch(value) or _ID.fullmatch(value) or _is_public_key(value):
        return False
    if _NAMES.fullmatch(value) or _CAMEL.fullmatch(value):
        return False
    rest = _ISSUER.sub(b"", value)
    if rest != value and looks_random(rest) and not (_HEX.fullmatch(rest) or _BASE32.fullmatch(rest)):
        return not is_identifier(rest)
    kinds = value.translate(_KINDS, _SIGNS)
    changes, counts = _changes(kinds), Counter(kinds)
    if len(counts) == _ODD:
        return value.isalnum() and len(value) >= _DOTTED and changes >= _MIXED * len(kinds)
    least = _CHANGING if b"." not in value else _CHANGING + 0.12
    return len(counts) > _ODD and min(counts.values()) >= max(_ODD, len(kinds) // 12) and changes >= least * len(kinds)


def _is_public_key(value: bytes) -> bool:
    """Whether a value is 32 bytes in Base58, as the addresses of Solana are; its secret keys have 64 bytes.

    Of random tokens of 43 or 44 letters and digits, one of thirty is taken for an address where nothing names it.
    """
    if not _KEY_58.fullmatch(value):
        return False
    return reduce(lambda number, char: 58 * number + _BASE58.index(chr(char)), value, 0) < 2**256


def _is_sequence(value: bytes) -> bool:
    """Whether a value counts up as examples do: `abcdefgh1234`."""
    return sum(after - before == 1 for before, after in pairwise(value)) >= _COUNTING * len(value)


_CHECKS: Final[dict[str, Callable[[bytes], bool]]] = {
    "": lambda value: entropy(value) >= _BITS - 0.6,
    "issued": lambda value: any(  # random, or longer than any name and not one sign again and again
        looks_random(run, _BEGUN)
        or (len(run) >= _UNNAMED and entropy(run) >= _LEAST_BITS and not (run.isalpha() or run.isdigit()))
        for run in _RUNS.findall(value)
    ),
    "entropy": lambda value: (
        not (_UUID.fullmatch(value) or _HEX.fullmatch(value) or is_identifier(value))
        and looks_random(value)
        and entropy(value) >= _BITS
    ),
    "unnamed": _unnamed,
    "token": lambda value: looks_random(value) or _mixed(value),
    "url": lambda value: len(value) >= 3 and not (value.isdigit() and len(value) <= 5),  # noqa: PLR2004  then a port
    "prose": lambda value: _password(value, quoted=False, assigned=False),
    "said": lambda value: _is_said(value, quoted=True),
}
