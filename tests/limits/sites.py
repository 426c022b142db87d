"""Every place in the code where a regular expression is written, found in the syntax trees."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pipelines

FOLDER: Final = Path(pipelines.__file__).parent
SCANNING: Final = frozenset({"search", "sub", "subn", "split", "findall", "finditer"})
METHODS: Final = SCANNING | {"match", "fullmatch"}
KEPT: Final = {
    "store/secrets/secret_rules.py regex": frozenset({"match"}),
}
"""How what a function returns is asked elsewhere; where nothing is said here, every place of a text is tried."""


@dataclass(frozen=True)
class Site:
    """One call of a function of `re`.

    Args:
        path: the file, below the package.
        first: its first line.
        last: its last one.
        literal: the pattern, where it is a plain string within a function, which no import compiles.
        name: the module's name for the pattern, or empty.
        methods: how it is asked: `match`, `fullmatch`, or `search` for whatever tries every place.
    """

    path: str
    first: int
    last: int
    literal: str | bytes | None
    name: str
    methods: frozenset[str]


def find_sites() -> list[Site]:
    """Return the places of the whole package, in order."""
    return [site for path in sorted(FOLDER.rglob("*.py")) for site in _sites_of(path)]


def _sites_of(path: Path) -> Iterator[Site]:
    text = path.read_text(encoding="utf-8")
    if not re.search(r"\bimport re\b", text) and "from re import" not in text:
        return
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    within = _within_functions(nodes)
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "re":
            raise AssertionError(f"{path}: import re as a whole, so that its patterns are found")
        if not _is_call_of_re(node):
            continue
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Attribute)
        name = _name_of(tree, node)
        kept = KEPT.get(f"{path.relative_to(FOLDER).as_posix()} {within.get(node, '')}")
        asked = frozenset({node.func.attr}) if node.func.attr != "compile" else kept or _asked(nodes, name)
        told = node.args[0].value if node in within and isinstance(node.args[0], ast.Constant) else None
        literal = told if isinstance(told, str | bytes) else None
        yield Site(
            str(path.relative_to(FOLDER)), node.lineno, node.end_lineno or 0, literal, name,
            frozenset("search" if method in SCANNING else method for method in asked),
        )  # fmt: skip


def _is_call_of_re(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return (
        isinstance(called, ast.Attribute)
        and isinstance(called.value, ast.Name)
        and called.value.id == "re"
        and called.attr in {*METHODS, "compile"}
    )


def _within_functions(nodes: list[ast.AST]) -> dict[ast.AST, str]:
    """Return what stands in functions, each with the name of the innermost one that has a name."""
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.Lambda)]
    found: dict[ast.AST, str] = {}
    for function in functions:  # from outside inwards, as `ast.walk` goes
        for inner in ast.walk(function):
            found[inner] = getattr(function, "name", found.get(inner, ""))
    return found


def _name_of(tree: ast.Module, call: ast.Call) -> str:
    """Return the name that a module gives this one pattern."""
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if getattr(node, "value", None) is call and isinstance(target, ast.Name):
            return target.id
    return ""


def _asked(nodes: list[ast.AST], name: str) -> frozenset[str]:
    """Return by which methods a private name is asked; by every place of a text where that cannot be told."""
    if not name.startswith("_"):
        return frozenset({"search"})
    loads = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    asked = [
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    ]
    told = len(asked) == len(loads) - 1 and set(asked) <= METHODS
    return frozenset(asked) if told and asked else frozenset({"search"})
