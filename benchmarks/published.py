"""Cases that two scanners publish for their own rules, read from a clone: what shall be found, and what shall not.

Their cases are Go source: strings, lists, and calls that make strings up. What is needed of that is read here, and no
more: an expression with anything else in it counts as unknown, and its case is left out.
"""

from __future__ import annotations

import hashlib
import math
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/)|(?P<raw>`[^`]*`)|(?P<text>\"(?:\\.|[^\"\\\n])*\")|(?P<char>'(?:\\.|[^'\\])+')"
    r"|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(?P<number>\d[\w.]*)|(?P<sign>:=|\.\.\.|.)",
    re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


@dataclass(frozen=True)
class Case:
    """A text of a rule's, and the secrets in it; none where nothing is to be found."""

    rule: str
    text: str
    secrets: tuple[str, ...] = ()
    bare: bool = False


@dataclass(frozen=True)
class Corpus:
    """A scanner's cases, and a token of each rule that knows its secret by its own form."""

    positives: list[Case] = field(default_factory=list)
    negatives: list[Case] = field(default_factory=list)
    bare: list[Case] = field(default_factory=list)


def half(rule: str) -> int:
    """Return to which half of the rules one belongs, by the hash of its name: 0 was seen, 1 was not."""
    return hashlib.sha256(rule.encode()).digest()[0] % 2


def sample(pattern: str, dice: random.Random) -> str:
    """Return a text that a regular expression matches."""
    import re._parser as sre  # type: ignore[import-not-found]  # noqa: PLC0415  the standard library's own reader of patterns

    def one(op: Any, value: Any, *, fold: bool) -> str:  # noqa: ANN401, PLR0911  sre's own forms
        name = str(op)
        if name == "LITERAL":
            return chr(value)
        if name in {"NOT_LITERAL", "ANY"}:
            return dice.choice("abcdefghijkmnpqrstuvwxyz0123456789")
        if name == "IN":
            return dice.choice(_chars(value))
        if name in {"MAX_REPEAT", "MIN_REPEAT"}:
            low, high, inner = value
            return "".join(many(inner, fold=fold) for _ in range(dice.randint(low, min(int(high), low + 8))))
        if name == "SUBPATTERN":
            return many(value[3], fold=fold)
        if name == "BRANCH":
            return many(dice.choice(value[1]), fold=fold)
        return ""

    def many(inner: Any, *, fold: bool) -> str:  # noqa: ANN401
        return "".join(one(op, value, fold=fold) for op, value in inner)

    return many(sre.parse(python_pattern(pattern)), fold=False)


def _chars(parts: Any) -> list[str]:  # noqa: ANN401
    known = {
        "DIGIT": "0123456789",
        "WORD": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
        "SPACE": " ",
    }
    chars: set[str] = set()
    negated = False
    for op, value in parts:
        name = str(op)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            chars.add(chr(value))
        elif name == "RANGE":
            chars |= {chr(code) for code in range(value[0], min(value[1], 126) + 1)}
        elif name == "CATEGORY":
            chars |= set(known.get(str(value).rpartition("_")[2], ""))
    plain = {chr(code) for code in range(33, 127)}
    return sorted((plain - chars if negated else chars) or {"a"})


def python_pattern(pattern: str) -> str:
    """Return a pattern of Go's as Python writes it."""
    pattern = pattern.replace(r"\z", r"\Z").replace("[[:alnum:]]", "[A-Za-z0-9]").replace("[:alnum:]", "A-Za-z0-9")
    while found := re.search(r"(?<!\\)\(\?([is]+)\)", pattern):  # it holds to the end of its group
        depth, end = 0, len(pattern)
        for at in range(found.end(), len(pattern)):
            if pattern[at - 1] == "\\" and pattern[at - 2] != "\\":
                continue
            depth += (pattern[at] == "(") - (pattern[at] == ")")
            if depth < 0:
                end = at
                break
        inside = pattern[found.end() : end]
        pattern = f"{pattern[: found.start()]}(?{found[1]}:{inside}){pattern[end:]}"
    return pattern


class Go:
    """Reads expressions of a Go file.

    Args:
        text: the file.
        dice: for secrets that its calls make up.
        helpers: name → what a call of that name gives for its arguments.
    """

    def __init__(self, text: str, dice: random.Random, helpers: dict[str, Any]) -> None:
        self.tokens = [(one.lastgroup or "", one[0]) for one in _TOKEN.finditer(text) if one.lastgroup != "skip"]
        self.tokens.append(("sign", ";"))
        self.names: dict[str, Any] = {}
        self._dice, self._helpers, self._at = dice, helpers, 0
        for at, (kind, word) in enumerate(self.tokens[:-1]):
            if kind == "name" and self.tokens[at + 1][1] in {"=", ":="} and word not in {"r", "_"}:
                value = self.value(at + 2)
                if value is not None:
                    self.names[word] = value

    def value(self, at: int) -> Any:  # noqa: ANN401  a string, a list, or None for what is unknown
        """Return what the expression that begins at a token comes to."""
        self._at = at
        try:
            return self._sum()
        except (AttributeError, LookupError, RuntimeError, TypeError, ValueError, re.error):
            return None

    def places(self, name: str) -> Iterator[int]:
        """Yield where the value of each field of that name begins."""
        for at in range(len(self.tokens) - 2):
            if self.tokens[at][1] == name and self.tokens[at + 1][1] == ":":
                yield at + 2

    def _sum(self) -> Any:  # noqa: ANN401
        found = self._one()
        while self.tokens[self._at][1] == "+":
            self._at += 1
            more = self._one()
            found = None if found is None or more is None else found + more
        return found

    def _one(self) -> Any:  # noqa: ANN401, PLR0911  as above
        kind, word = self.tokens[self._at]
        self._at += 1
        if kind == "raw":
            return word[1:-1]
        if kind == "text":
            return re.sub(r"\\(?:x(..)|u(....)|(.))", _unescaped, word[1:-1])
        if kind == "number":
            return word
        if word in {"[", "map"}:
            return self._listed()
        if word == "(":
            found = self._sum()
            self._at += 1
            return found
        if word == "nil":
            return []
        if kind != "name":
            raise ValueError(word)
        if self.tokens[self._at][1] != "(":
            return self.names.get(word)
        self._at += 1
        arguments = self._until(")")
        return self._call(word, arguments)

    def _listed(self) -> list[Any] | None:
        while self.tokens[self._at][1] != "{":
            if self.tokens[self._at][1] in {";", "=", ")"}:
                raise ValueError
            self._at += 1
        self._at += 1
        return self._until("}")

    def _until(self, end: str) -> list[Any]:
        found: list[Any] = []
        while self.tokens[self._at][1] != end:
            if self.tokens[self._at][1] == ",":
                self._at += 1
                continue
            value = self._sum()
            if self.tokens[self._at][1] == ":":  # of a map the values count
                self._at += 1
                value = self._sum()
            if self.tokens[self._at][1] == "...":
                self._at += 1
                found += value or []
            else:
                found.append(value)
        self._at += 1
        return found

    def _call(self, name: str, arguments: list[Any]) -> Any:  # noqa: ANN401
        last = name.rpartition(".")[2]
        if name == "append":
            return [*(arguments[0] or []), *arguments[1:]]
        if last.startswith("NewSecret"):
            return sample(arguments[0], self._dice)
        if name == "fmt.Sprintf":
            rest = iter(arguments[1:])
            return re.sub(r"%[sdvq]", lambda _: str(next(rest)), arguments[0])
        if last in {"MustCompile", "byte", "string", "TrimSpace"}:
            return arguments[0]
        return self._helpers[last](*arguments) if last in self._helpers else None


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else _ESCAPES.get(found[3], found[3])


def _entropy(text: str) -> float:
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


def read_gitleaks(place: Path, seed: int = 1) -> Corpus:
    """Return the cases of gitleaks' own rules, from a clone of it."""
    dice, corpus = random.Random(seed), Corpus()
    made = (place / "cmd/generate/config/utils/generate.go").read_text()
    shapes = Go("x := " + made[made.index("map[string]string{") :].partition("replacer")[0], dice, {}).names["x"]

    def in_all_shapes(name: str, secret: str) -> list[str]:
        return [one.replace("{i}", name).replace("{I}", name.upper()).replace("{s}", secret) for one in shapes]

    helpers: dict[str, Any] = {
        "GenerateSampleSecret": lambda name, secret: f'{name}_api_token = "{secret}"',
        "GenerateSampleSecrets": in_all_shapes,
        "GenerateUniqueTokenRegex": lambda inner, _: rf"\b(?P<token>{inner})(?:[\x60'\"\s;]|\\[nr]|$)",
        "GenerateSemiGenericRegex": lambda words, inner, _: (
            rf"(?i)[\w.-]{{0,50}}?(?:{'|'.join(words)})(?:[ \t\w.-]{{0,20}})[\s'\"]{{0,3}}"
            rf"(?:=|>|:{{1,3}}=|\|\||:|=>|\?=|,)[\x60'\"\s=]{{0,5}}({inner})(?:[\x60'\"\s;]|\\[nr]|$)"
        ),
    }
    for name, body in re.findall(
        r"func (\w+)\([^)]*\) string \{\s*return (?:fmt\.Sprintf\()?`([^`]*)`",
        (place / "cmd/generate/config/utils/patterns.go").read_text(),
    ):
        helpers[name] = lambda size="", body=body: body.replace("%s", size)
    rules: list[tuple[re.Pattern[str], float]] = []
    for file in sorted((place / "cmd/generate/config/rules").glob("*.go")):
        for part in re.split(r"(?m)^(?=func )", file.read_text())[1:]:
            _read_rule(Go(part, dice, helpers), part, rules, corpus, dice)
    corpus.negatives[:] = [one for one in corpus.negatives if not _matched(rules, one.text)]
    return corpus


def _read_rule(
    go: Go, part: str, rules: list[tuple[re.Pattern[str], float]], corpus: Corpus, dice: random.Random
) -> None:
    ids = [go.value(at) for at in go.places("RuleID")]
    sources = [go.value(at) for at in go.places("Regex")]
    if not ids or not ids[0] or not sources or not sources[0]:
        return
    rule, entropy = ids[0], [go.value(at) for at in go.places("Entropy")]
    pattern, least = re.compile(python_pattern(sources[0])), float(entropy[0]) if entropy and entropy[0] else 0.0
    rules.append((pattern, least))
    for text in go.names.get("tps") or []:
        if text and (found := pattern.search(text)):
            secret = next((group for group in found.groups() if group), found[0])
            corpus.positives.append(Case(rule, text, (secret,)))
    corpus.negatives.extend(Case(rule, text) for text in go.names.get("fps") or [] if text)
    if "GenerateUniqueTokenRegex" in part or ("GenerateSemi" not in part and rule != "generic-api-key"):
        inner = re.fullmatch(r"\\b\(\?P<token>(.*)\)\(\?:\[.x60.*", sources[0])
        for _ in range(4):
            token = sample(inner[1] if inner else sources[0], dice).strip(" '\"`\n;,=")
            if not re.search(r"\s", token) and _entropy(token) >= max(least, 2.0):
                corpus.bare.append(Case(rule, token, (token,)))


def _matched(rules: list[tuple[re.Pattern[str], float]], text: str) -> bool:
    for pattern, least in rules:
        for found in pattern.finditer(text):
            if _entropy(next((group for group in found.groups() if group), found[0]) or " ") >= least:
                return True
    return False


def read_trufflehog(place: Path) -> Corpus:  # noqa: C901  one kind of file after the other
    """Return the cases of trufflehog's detectors, from a clone of it."""
    dice, corpus = random.Random(1), Corpus()
    rules: list[tuple[re.Pattern[str], float]] = []
    helpers = {"PrefixRegex": lambda words: rf"(?i:{'|'.join(words)})(?:.|[\n\r]){{0,40}}?"}
    for file in sorted((place / "pkg/detectors").rglob("*.go")):
        text = file.read_text()
        if file.name.endswith("_integration_test.go"):
            continue
        go, rule = Go(text, dice, helpers), file.parent.relative_to(place / "pkg/detectors").as_posix()
        if not file.name.endswith("_test.go"):
            for at, (_, word) in enumerate(go.tokens[:-1]):
                if (
                    re.search("(?i)key|tok|secret|pass|pat$", word)
                    and go.tokens[at + 1][1] in {"=", ":="}
                    and "MustCompile" in go.tokens[min(at + 2, len(go.tokens) - 1)][1]
                ):
                    source = go.names.get(word)
                    if isinstance(source, str):
                        try:
                            rules.append((re.compile(python_pattern(source)), 0.0))
                        except re.error:
                            continue
            continue
        for at in go.places("input"):
            shown = go.value(at)
            wanted = next((place for place in go.places("want") if place > at), None)
            following = next((place for place in go.places("input") if place > at), len(go.tokens))
            if not isinstance(shown, str) or wanted is None or wanted > following:
                continue
            want = go.value(wanted)
            if not want:
                corpus.negatives.append(Case(rule, shown))
            elif parts := tuple(dict.fromkeys(part for one in want if one for part in _parts(one, shown))):
                corpus.positives.append(Case(rule, shown, parts))
    corpus.negatives[:] = [one for one in corpus.negatives if not _matched(rules, one.text)]
    return corpus


def _parts(wanted: str, text: str) -> Iterator[str]:
    """Yield the longest parts of what is wanted that stand in a text: an id and its key come as one."""
    while len(wanted) >= 8:  # noqa: PLR2004  less is no secret
        size = next((size for size in range(len(wanted), 7, -1) if wanted[:size] in text), 0)
        if size:
            yield wanted[:size]
        wanted = wanted[max(size, 1) :]
