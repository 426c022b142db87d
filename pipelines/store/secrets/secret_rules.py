"""The rules for secrets, read from `rules.toml`; each pattern is compiled when its first keyword occurs."""

from __future__ import annotations

import os
import re
import tomllib
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


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
_MARKS = r"""(?:\\{0,7}["'`*_]){0,4}"""
_LOGIN = rf"(?:{_MARKS}[ ]?(?:[:=|]|：){_MARKS}[ ]{{0,12}}|[ ]{_IS}[ ]|[ ](?=[`\"']))"
"""What stands between a label that names a login and the name of the user."""
_AND = rf"{_MARKS}(?::|[ ]/[ ]|[ ]{{0,8}}\|[ ]{{0,8}})"
"""What stands between the user and the password; beside it, a comma where the password can be no word."""
_END = r"""(?=[*_"'`\\)\]}.,;]{0,6}(?:[ \t]{0,8}(?:[\r\n|(<]|\Z)|\\[nr]|[.,;][ ]))"""
UUIDS = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_PARTS = {
    "<name>": r"(?:[mM]ot de passe|[A-Za-z]{3,10}|[\x80-\xff]{6,48}?)(?:<of>|[A-Za-z0-9_.\x80-\xff-]{0,30}?)",
    "<left>": _LEFT, "<of>": _OF, "<is>": _IS, "<sep>": _SEP, "<login>": _LOGIN, "<and>": _AND, "<end>": _END,
    "<marks>": _MARKS, "<quote>": r"""\\{0,7}["']?""", "<sign>": r"""[^\s"'`,;<>|()]""", "<uuid>": UUIDS,
    "<cases>": r"(?=[^A-Z\s]{0,60}[A-Z])(?=[^a-z\s]{0,60}[a-z])",
    "<public>": r"(?i:public|cache|partition|idempotency|foreign)[ \w-]{0,10}\Z",
}  # fmt: skip


NAME_REACH: Final = 40
"""Bytes right before a secret among which its name is looked for."""
_LISTS = frozenset("keywords words near".split())
"""Fields that hold several texts, with bars between."""


class Rule(NamedTuple):
    """One kind of secret.

    Args:
        number: its position in the order of rules.
        id: its name.
        pattern: matched at the start of a keyword or word; the group `secret`, or all of it, is redacted. It matches
            bytes: what counts as a word or a figure is ASCII's. It must take linear time: no nested repeats, and every
            repeat after a keyword that can repeat is bounded or begins with <left>. <left> is a word boundary that also
            knows the escapes of JSON and of terminals; <of> is the text that says what a secret is for, between its
            name and <sep>, which precedes its value.
        keywords: how a token may begin, verbatim; the rule is tried only where a run of its characters begins so. The
            empty one is any run, and the pattern asks for nothing beyond it.
        words: the same of any text: they count anywhere and in any case.
        value: for `NAME = value`: the pattern ends where the value begins, `believed` finds its end and decides whether
            it is a secret: as a `password`, `secret`, `token` or `key`; or the `block` of a private key.
        check: a further test of the match, of those in `secret_values.py`.
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

    def is_named(self, data: bytes, start: int) -> bool:
        """Return whether the text right before a secret says that it is none."""
        return bool(self.unless) and compiled(self.unless).search(data, max(0, start - NAME_REACH), start) is not None


@cache
def compiled(source: str) -> re.Pattern[bytes]:
    """Return a pattern of a rule, compiled on first use."""
    for short, text in _PARTS.items():
        source = source.replace(short, text)
    return re.compile(source.encode())


_TOKEN_STARTS = rb"(?=[^\s]{15})(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=[0-9]m))"
"""Where a token may begin: an escape of JSON or of a terminal may precede it. The shortest token has 15 characters."""
_RUN = rb"(?=[A-Za-z0-9_.~+/=$%@!#^&*?-]{24})"
"""The shortest token that is known by nothing but its looks."""
_CLOSE, _CROWD = 256, 20
"""No text has a word so often within so many bytes, except to cost us time."""


class Beginnings(NamedTuple):
    """How matches of rules begin, and one pattern that finds all the places.

    Args:
        pattern: matches the first byte of each of the texts.
        rules: by first byte, the texts that begin so, each with its rule. The empty text is any long run.
    """

    pattern: re.Pattern[bytes]
    rules: Mapping[bytes, Sequence[tuple[bytes, Rule]]]

    @classmethod
    def of(cls, texts: Iterable[tuple[bytes, Rule]], before: bytes = b"") -> Beginnings:
        """Return the texts with their pattern; `before` must match where a text begins."""
        rules = dict[bytes, list[tuple[bytes, Rule]]]()
        for text, rule in texts:
            rules.setdefault(text[:1], []).append((text, rule))
        any_run = rules.pop(b"", [])
        # Texts are grouped by their first byte: that is several times faster.
        groups = [
            re.escape(first) + b"(?=%b)" % b"|".join(sorted({re.escape(text[1:]) for text, _ in found}))
            for first, found in rules.items()
        ]
        pattern = re.compile(before + b"(?:%b)" % b"|".join([*groups, *[_RUN] * bool(any_run)]))
        return cls(pattern, {first: [*found, *any_run] for first, found in rules.items()} | {b"": any_run})

    def places(self, data: bytes) -> Iterator[tuple[int, Rule]]:
        """Yield where a text occurs, and its rule, unless it is repeated closely: that only costs us time."""
        for found in self.pattern.finditer(data):
            at = found.start()
            for text, rule in self.rules[found[0]]:
                if data.startswith(text, at) and (not text or data.count(text, max(0, at - _CLOSE), at) < _CROWD):
                    yield at, rule


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


FILE: Final = os.path.join(os.path.dirname(__file__), "rules.toml")  # noqa: PTH118, PTH120  pathlib is slow to import
_RANDOM = "[A-Za-z0-9_.=+/!%$-]{15,4000}[A-Za-z0-9_=-]"
"""What follows the beginning of a token that says who issued it, if nothing more is known."""
_KINDS_OF_SIGNS = {
    "hex": "[0-9a-f]", "base32": "[A-Z2-7]", "serial": "[A-Z0-9-]",
    "word": "[A-Za-z0-9]", "token": "[A-Za-z0-9._]", "uuid": f"(?:{UUIDS})",
}  # fmt: skip


@cache
def load_rules() -> Rules:
    """Return the rules, reading the file once."""
    with open(FILE, "rb") as file:  # noqa: PTH123  as above
        raw = tomllib.load(file)
    rows = dict[str, dict[str, Any]]()
    for issuer in raw["values"]["issuers"].splitlines():
        # Its name, and how its tokens may begin. Something random follows, up to the end of its letters, digits and
        # signs; after a plus it is known what: kinds of signs, each with how many, and signs.
        begun, _, known = issuer.partition(" + ")
        name, *starts = begun.split()
        form, parts = "", iter(known.split())
        for part in parts:
            form += f"{_KINDS_OF_SIGNS[part]}{{{next(parts)}}}" if part in _KINDS_OF_SIGNS else re.escape(part)
        source = f"<left>(?:{'|'.join(map(re.escape, starts))}){form or _RANDOM}(?![A-Za-z0-9])"
        rows[name] = {"pattern": source, "keywords": "|".join(starts), "check": "" if form else "issued"}
    rows |= raw["rules"]
    for row in rows.values():
        for field in _LISTS & row.keys():
            row[field] = row[field].replace("<passwords>", raw["values"]["passwords"]).split("|")
    rules = tuple(Rule(number, name, **row) for number, (name, row) in enumerate(rows.items()))
    tokens = Beginnings.of(((text.encode(), rule) for rule in rules for text in rule.keywords), _TOKEN_STARTS)
    words = Beginnings.of((text.lower().encode(), rule) for rule in rules for text in rule.words)
    placeholders = frozenset(raw["values"]["placeholders"].encode().split())
    names = "|".join(map(re.escape, raw["values"]["names"].split()))
    numbers = {rule.id: rule.number for rule in rules}
    named = re.compile(names.encode(), re.IGNORECASE)
    return Rules(rules, tokens, words, numbers, placeholders, named)
