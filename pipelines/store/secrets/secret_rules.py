"""The rules for secrets, read from `rules.toml`; each pattern is compiled when its first keyword occurs."""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections import Counter
from functools import cache, lru_cache, reduce
from itertools import chain, pairwise
from operator import ne
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pipelines.store.secrets.beginnings import TOKEN_STARTS, Beginnings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


_LEFT = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=\x1b\[[0-9]m)|(?<=[0-9]m))"
_OF = (
    r"""(?:[ ](?:\([^()\r\n\\"'<>]{1,40}\)|(?:for|of|to|on|at|from|für|von|auf|zum?|pour|du|de|para|для|от)[ ]"""
    r"""[^\r\n\\:="'<>]{1,40}?)(?=[ ]<is>[ ]|[ ]?[:=：＝]))"""
)
_BLANK = r"(?:[ \t]|\\t)"
_IS = "(?:is|was|are|ist|lautet|est|es|(?:changed|set|reset|updated|rotated)[ ]to|geändert[ ](?:auf|in|zu))"
_SEP = (
    r"""(?:\\{0,7}["'`]\]?|\*{1,2}|\])?(?:"""
    # <add key="NAME" value="…">, {"name": "NAME", "value": "…"}, and both across lines
    r"""(?P<pair>(?:\\n|[,;\s/><}]){1,60}\\{0,7}["']?(?i:value)\\{0,7}["']?[ \t]{0,3}[:=>]\s{0,30})"""
    rf"|(?P<type>:?{_BLANK}{{1,3}}(?:string|str|String|bytes|&str|Text|varchar|\[\]byte)\??(?={_BLANK}{{0,3}}=))?"
    rf"{_BLANK}{{0,3}}(?P<sep>=>|[:?.+|]{{0,3}}={{1,3}}|:|：|＝|->|→|>(?:\s{{0,40}}(?=\S))?){_BLANK}{{0,3}}\*{{0,2}}(?:\s{{1,40}}(?=[\"'`])|{_BLANK}{{0,3}})"
    rf"|{_BLANK}{{0,3}}(?P<call>[,({{-]|\|\|)\s{{0,40}}(?=\\{{0,7}}[\"'`])|{_BLANK}{{0,12}}(?P<cell>\|){_BLANK}{{0,12}}"
    rf"|{_BLANK}{{1,3}}(?P<verb>{_IS}){_BLANK}{{1,3}}(?:now[ \t])?(?::[ \t]{{0,3}})?"
    rf"|{_BLANK}{{0,3}}(?:是|为|為|は){_BLANK}{{0,3}}|(?P<blank>{_BLANK}{{1,3}}))"
)
_MARKS = r"""["'`*_\\]{0,4}"""
_LOGIN = rf"(?:{_MARKS}[ ]?(?:[:=|]|：){_MARKS}[ ]{{0,12}}|[ ]{_IS}[ ]|[ ](?=[`\"']))"
"""What stands between a label that names a login and the name of the user."""
_AND = rf"{_MARKS}(?::|[ ]/[ ]|[ ]{{0,8}}\|[ ]{{0,8}})"
"""What stands between the user and the password; beside it, a comma where the password can be no word."""
_END = r"""(?=[*_"'`\\)\]}.,;]{0,6}(?:[ \t]{0,8}(?:[\r\n|(<]|\Z)|\\[nr]|[.,;][ ]))"""
_PARTS = {
    "<left>": _LEFT, "<of>": _OF, "<is>": _IS, "<sep>": _SEP, "<login>": _LOGIN, "<and>": _AND, "<end>": _END,
    "<marks>": _MARKS,
}  # fmt: skip


_NAME = 40
_LISTS = frozenset({"keywords", "words", "near"})
"""Fields that hold several texts, with bars between."""


class Rule(NamedTuple):
    """One kind of secret.

    Args:
        number: its position in the order of rules.
        id: its name.
        pattern: matched at the start of a keyword or word; the group `secret`, or all of it, is redacted. It must take
            linear time: no nested repeats, and every repeat after a keyword that can repeat is bounded or begins with
            <left>. <left> is a word boundary that also knows the escapes of JSON and of terminals; <of> is the text
            that says what a secret is for, between its name and <sep>, which precedes its value.
        keywords: how a token may begin, verbatim; the rule is tried only where a run of its characters begins so. The
            empty one is any run, and the pattern asks for nothing beyond it.
        words: the same of any text: they count anywhere and in any case.
        value: for `NAME = value`: the pattern ends where the value begins, `believed` finds its end and decides whether
            it is a secret: as a `password`, `secret`, `token` or `key`; or the `block` of a private key.
        check: a further test of the match, of `_CHECKS`.
        near: words, one of which must precede on the same line, at most 400 bytes before.
        unless: matched right before the secret: what is named so is none.
    """

    number: int
    id: str
    pattern: str = ""
    keywords: Sequence[str] = ()
    words: Sequence[str] = ()
    value: str = ""
    check: str = ""
    near: Sequence[str] = ()
    unless: str = ""

    @property
    def regex(self) -> re.Pattern[bytes]:
        """The compiled pattern."""
        return _compiled(self.pattern)

    def is_named(self, data: bytes, start: int) -> bool:
        """Return whether the text right before a secret says that it is none."""
        return bool(self.unless) and _compiled(self.unless).search(data, max(0, start - _NAME), start) is not None


@cache
def _compiled(source: str) -> re.Pattern[bytes]:
    for short, text in _PARTS.items():
        source = source.replace(short, text)
    return re.compile(source.encode())


class Rules(NamedTuple):
    """All rules, and the words that distinguish an ordinary value from a secret.

    Args:
        rules: in the order in which they are tried.
        tokens: how tokens begin; nothing of a token precedes it.
        words: texts in lower case, which count anywhere and in any case.
        numbers: a rule's id → its number.
        placeholders: values that are not secret, in lower case.
        names: matches the rest of a name if it shows that the value is not secret.
    """

    rules: tuple[Rule, ...]
    tokens: Beginnings
    words: Beginnings
    numbers: Mapping[str, int]
    placeholders: frozenset[bytes]
    names: re.Pattern[bytes]

    def matches(self, data: bytes) -> Iterator[tuple[re.Match[bytes], Rule]]:
        """Yield each match of a rule's pattern where the rule may begin."""
        for at, rule in chain(self.words.places(data.lower()), self.tokens.places(data)):
            if found := rule.regex.match(data, at):
                yield found, rule


FILE: Final = os.path.join(os.path.dirname(__file__), "rules.toml")  # noqa: PTH118, PTH120  pathlib is slow to import
_RANDOM = "[A-Za-z0-9_.=+/!%$-]{15,4000}[A-Za-z0-9_=-]"
"""What follows the beginning of a token that says who issued it, if nothing more is known."""
_KINDS_OF_SIGNS = {
    "digit": "[0-9]", "hex": "[0-9a-f]", "base32": "[A-Z2-7]", "upper": "[A-Z0-9]", "serial": "[A-Z0-9-]",
    "word": "[A-Za-z0-9]", "token": "[A-Za-z0-9._]", "uuid": "(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})",
}  # fmt: skip


def _issued(row: str) -> tuple[str, dict[str, str]]:
    """Return the name and the fields of the rule in a row of issuers."""
    begun, _, known = row.partition(" + ")
    name, *starts = begun.split()
    parts = iter(known.split())
    form = "".join(
        f"{_KINDS_OF_SIGNS[part]}{{{next(parts)}}}" if part in _KINDS_OF_SIGNS else re.escape(part) for part in parts
    )
    source = f"<left>(?:{'|'.join(map(re.escape, starts))}){form or _RANDOM}(?![A-Za-z0-9])"
    return name, {"pattern": source, "keywords": "|".join(starts), "check": "" if form else "issued"}


@lru_cache(maxsize=1)
def load_rules() -> Rules:
    """Return the rules, reading the file once."""
    with open(FILE, "rb") as file:  # noqa: PTH123  as above
        raw = tomllib.load(file)
    rows: dict[str, dict[str, Any]] = dict(map(_issued, raw["values"]["issuers"].splitlines())) | raw["rules"]
    rules = tuple(
        Rule(number, name, **{key: told.split("|") if key in _LISTS else told for key, told in row.items()})
        for number, (name, row) in enumerate(rows.items())
    )
    tokens = Beginnings.of(((text.encode(), rule) for rule in rules for text in rule.keywords), TOKEN_STARTS)
    words = Beginnings.of((text.lower().encode(), rule) for rule in rules for text in rule.words)
    placeholders = frozenset(raw["values"]["placeholders"].encode().split())
    names = "|".join(map(re.escape, raw["values"]["names"].split()))
    numbers = {rule.id: rule.number for rule in rules}
    named = re.compile(names.encode(), re.IGNORECASE)
    return Rules(rules, tokens, words, numbers, placeholders, named)


LONGEST: Final = 4096
_LOOKED_AT = 80
"""Bytes of a value that are examined."""
_ESCAPED = 8
"""The limit of quotes within a quoted value; with more, it is a text."""
_OPENING = re.compile(rb"""\\{0,7}["'`]""")
_KEY_END = re.compile(rb"""\\{0,7}["'`]\s{0,8}:""")
"""How the key of an object ends."""
# Scripts without blanks between words, and their signs, end a value: they begin with these bytes.
_BARE = re.compile(rb"""[^\s"'`,;<>|&\xe3-\xed\xef]+""")
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
_UUID = re.compile(rb"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
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
    rb"[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)*?(?:(?P<called>[(\[{].*)|(?:\.|->|::)[A-Za-z_]\w*)",
    re.DOTALL,
)
# A word or two, perhaps followed by a number: `NorthwindPortal2`.
_NAMED = re.compile(rb"[A-Z]?[a-z]+(?:[A-Z][a-z]+)*[0-9]{0,4}|[A-Z]+[0-9]{0,4}")
_NAMES = re.compile(rb"(?:[A-Za-z\x80-\xff]++|[0-9]++)(?:[-_.:/@ ]?[0-9]++|[-_.:/@ ][A-Za-z\x80-\xff]++)*+")
# A name in a program: `publicKeyBase64FromPem`.
_CAMEL = re.compile(
    rb"(?=(?:[^a-z]*+[a-z]){12})"
    rb"(?:[A-Z]?[a-z]{2,}+|(?:Of|To|In|On|By|Is|Id|As|At|Or)|[A-Z]{2,6}(?![a-z])|[A-Z]{0,6}[0-9]{1,4}(?![a-z0-9]))++"
)
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
    if opened := _OPENING.match(data, start):
        begin, mark = opened.end(), opened[0]
        end = begin - 1
        line = data.find(b"\n", begin, begin + LONGEST)
        limit = line if line >= 0 else begin + LONGEST
        for _ in range(_ESCAPED):
            end = data.find(mark, end + 1, limit)
            if end < 0:
                break
            if data[end - 1 : end] != b"\\" or end == begin:
                return begin, end, True
        start = begin
    found = _BARE.match(data, start, start + LONGEST)
    if found is None:
        return start, start, False
    escaped = _ESCAPED_END.search(data, start, found.end())
    bare = data[start : escaped.start() if escaped else found.end()]
    return start, start + len(bare.rstrip(b").]}:!?*")), False


def believed(rules: Rules, rule: Rule, name: re.Match[bytes], data: bytes) -> tuple[int, int] | None:
    """Return the position of an assignment's value, if it is likely to be a secret.

    Args:
        rules: for their words.
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
    if rules.names.search(words, 3) or _hides_nothing(rules, value) or _ADDRESS.fullmatch(data[begin:end]):
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
        or (separator[-1:] == b"=" and variable is not None and variable[0].isupper())
    )
    is_other = (
        (separator == b"==" and not quoted)
        or (separator == b"->" and value.endswith(words.strip()))  # a branch that is pushed: `fix-secrets-2 -> …`
        or (value[:1] in b"@?" and _INSIDE.search(data, max(0, name.start() - _NAME), name.start()))
        or (name["call"] and quoted and _KEY_END.match(data, end))  # "… the password", "next key": …
        or (name["call"] and b"]" in words)  # ["user", "password"], "Signing in"
        or (name["call"] == b"," and words[-1:].isalnum())  # connect(user, password, "localhost")
        # ["login", "must-pass", "role-claim"], but not setenv("DB_PASS", "…")
        or (
            name["call"] == b","
            and not _OPENED.search(data, max(0, name.start() - _NAME), name.start())
            and is_name(value)
        )
        or (data[begin - 1 : begin] == b"`" and _calls(value))  # code in prose
    )
    is_secret = not is_other and _BELIEFS[rule.value](value, quoted=quoted, assigned=assigned)
    return (begin, end) if is_secret else None


def checked(rules: Rules, rule: Rule, value: bytes) -> bool:
    """Return whether a pattern's match passes the rule's own test."""
    if _ADDRESS.fullmatch(value):
        return False
    value = value[:_LOOKED_AT]
    return not _hides_nothing(rules, value) and not _is_sequence(value) and _CHECKS[rule.check](value)


def has_own_format(name: str) -> bool:
    """Return whether a rule recognises its secrets by their own format, without the text around them."""
    rules = load_rules()
    rule = rules.rules[rules.numbers[name]]
    return not rule.value and rule.check in {"", "issued"}


def is_name(value: bytes) -> bool:
    """Return whether a value may be a name: words, perhaps with numbers, a path or an address."""
    return bool(_TELLING.fullmatch(value) or _NAMES.fullmatch(value) or _NAMING.fullmatch(value)) and not looks_random(
        value
    )


def _hides_nothing(rules: Rules, value: bytes) -> bool:
    return value.lower() in rules.placeholders or _PLACEHOLDER.fullmatch(value) is not None


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
    if not assigned and not _CODE.fullmatch(value):  # code could not be written so
        assigned = len(value) >= _UNNAMED
    varied = value.isalnum() and not value.isalpha() and bits >= _LEAST_BITS and (assigned or is_mixed)
    if assigned and is_mixed and len(value) > _TOKEN:
        varied |= bits > _BITS or _UUID.fullmatch(value) is not None
    return (looks_random(value) or varied) and (assigned or not _calls(value))


def _key(value: bytes, *, quoted: bool, assigned: bool) -> bool:
    return _token(value, quoted=quoted, assigned=assigned) or _is_readable_key(value)


def _is_readable_key(value: bytes) -> bool:
    """Whether a value that is said to be a key may be one that people read: `harbor-lantern-2031`."""
    digits = sum(chr(byte).isdigit() for byte in value)
    return len(value) >= _LONG and digits > _DIGITS and _READABLE.fullmatch(value) is not None


_READABLE = re.compile(rb"(?=[^a-z]*+[a-z])[A-Za-z0-9]++(?:-[A-Za-z0-9]++)++")
_BELIEFS: Final[dict[str, Callable[..., bool]]] = {
    "password": _password, "secret": _secret, "token": _token, "key": _key,
}  # fmt: skip


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
    kinds = value.translate(_KINDS, _SIGNS)
    changes, counts = _changes(kinds), Counter(kinds)
    if len(counts) == _ODD:
        return value.isalnum() and len(value) >= _DOTTED and changes >= _MIXED * len(kinds)
    least = _CHANGING if b"." not in value else _CHANGING + 0.12
    return (
        len(counts) > _ODD
        and min(counts.values()) >= max(_ODD, len(kinds) // 12)
        and changes >= least * len(kinds)
        and (b"." not in value or len(value) >= _DOTTED)
    )


def _is_public_key(value: bytes) -> bool:
    """Whether a value is 32 bytes in Base58, as the addresses of Solana are; its secret keys have 64 bytes.

    Of random tokens of 43 or 44 letters and digits, one of thirty is taken for an address where nothing names it.
    """
    if not _KEY_58.fullmatch(value):
        return False
    return reduce(lambda number, char: 58 * number + _BASE58.index(chr(char)), value, 0) < 2**256


def _is_long(run: bytes) -> bool:
    """Return whether a run of letters and digits is longer than any name, and not one sign again and again."""
    return len(run) >= _UNNAMED and entropy(run) >= _LEAST_BITS and not (run.isalpha() or run.isdigit())


def _is_sequence(value: bytes) -> bool:
    """Whether a value counts up as examples do: `abcdefgh1234`."""
    return sum(after - before == 1 for before, after in pairwise(value)) >= _COUNTING * len(value)


_CHECKS: Final[dict[str, Callable[[bytes], bool]]] = {
    "": lambda value: entropy(value) >= _BITS - 0.6,
    "issued": lambda value: any(looks_random(run, _BEGUN) or _is_long(run) for run in _RUNS.findall(value)),
    "random": looks_random,
    "entropy": lambda value: (
        not (_UUID.fullmatch(value) or _HEX.fullmatch(value)) and looks_random(value) and entropy(value) >= _BITS
    ),
    "unnamed": _unnamed,
    "token": lambda value: looks_random(value) or _mixed(value),
    "url": lambda value: len(value) >= 3 and not (value.isdigit() and len(value) <= 5),  # noqa: PLR2004  then a port
    "prose": lambda value: _password(value, quoted=False, assigned=False),
    "said": lambda value: _is_said(value, quoted=True),
}
