"""The house: rooms stand on those below them alone, say so, and stay small enough to be held in a head."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import pipelines
from benchmarks.house import FLEET, python_tokens, tokens_by_room

HOUSE = Path(pipelines.__file__).parent
ROOMS = ("store", "search", "extract", "review", "agents", "night", "queries", "view", "cli")
"""From below: each may stand on those before it."""
GROUND = ("errors", "text", "clock", "templating", "usage", "provider_settings", "user_settings")
"""Loose files on which all rooms may stand; `clock` knows the settings by type alone."""
SETTINGS = ("settings",)
"""A loose file that stands on the store, and on which all other rooms may."""
TOP = ("__init__", "api", "mcp", "start")
FILES = sorted(HOUSE.rglob("*.py"))
FLOORS = dict.fromkeys(GROUND, 0) | {"store": 1} | dict.fromkeys(SETTINGS, 2)
FLOORS |= {room: floor for floor, room in enumerate(ROOMS[1:], 3)} | dict.fromkeys(TOP, 20)
KNOWN = {
    ("clock", "settings"): "a type alone",
    ("cli", "mcp"): "`curate mcp` serves what stands beside it",
}


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def place(path: Path) -> str:
    """Return the room of a file, or its own name where it is in none."""
    return path.relative_to(HOUSE).parts[0].removesuffix(".py")


@cache
def imported(path: Path, *, typed: bool = True) -> list[Path]:
    """Return the files of the house that a file imports anywhere, those for types alone among them or not."""
    tree = tree_of(path)
    hidden = set()
    if not typed:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                hidden |= set(map(id, ast.walk(node)))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pipelines") and id(node) not in hidden:
            base = HOUSE.parent / str(node.module).replace(".", "/")
            for alias in node.names:
                options = (base / f"{alias.name}.py", base / alias.name / "__init__.py", base.with_suffix(".py"))
                found.append(next((one for one in options if one.exists()), base / "__init__.py"))
    return found


def test_imports_run_downwards() -> None:
    for path in FILES:
        own = place(path)
        for there in {place(other) for other in imported(path) if other != HOUSE / "__init__.py"} - {own}:
            both_ground = own in GROUND and there in GROUND
            is_below = own in TOP or both_ground or FLOORS[there] < FLOORS[own] or (own, there) in KNOWN
            assert is_below, f"{path.relative_to(HOUSE)} imports {there}"


def test_no_file_imports_itself_by_way_of_others() -> None:
    edges = {path: set(imported(path, typed=False)) - {path} for path in FILES}
    done: set[Path] = set()

    def walk(path: Path, above: tuple[Path, ...]) -> None:
        assert path not in above, " -> ".join(str(one.relative_to(HOUSE)) for one in (*above, path))
        if path not in done:
            for other in edges.get(path, ()):
                walk(other, (*above, path))
            done.add(path)

    for path in FILES:
        walk(path, ())


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_says_what_it_holds_who_calls_it_and_what_it_imports(room: str) -> None:
    told = ast.get_docstring(tree_of(HOUSE / room / "__init__.py")) or ""
    assert re.search(r"[Ii]mport", told)
    assert re.search(r"[Oo]thers ", told)
    assert 2 <= len(told.splitlines()) <= 6


def test_there_are_nine_rooms_and_twelve_loose_files() -> None:
    assert {path.parent.name for path in HOUSE.glob("*/__init__.py")} == set(ROOMS)
    loose = {path.stem for path in HOUSE.glob("*.py")}
    assert loose == {*GROUND, *SETTINGS, *TOP}
    assert len(loose) <= 12


def test_no_two_files_share_a_name() -> None:
    names = Counter(path.name for path in FILES if path.name not in {"__init__.py", "__main__.py"})
    assert [name for name, count in names.items() if count > 1] == []
    assert len(FILES) <= 232


def test_no_file_and_no_function_is_too_long_to_be_read_at_once() -> None:
    for path in FILES:
        text = path.read_text()
        assert text.count("\n") <= 500, path
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 60, f"{path}: {node.name}"


def test_no_two_public_classes_share_a_name() -> None:
    named: dict[str, list[str]] = {}
    for path in sorted(HOUSE.rglob("*.py")):
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                named.setdefault(node.name, []).append(str(path.relative_to(HOUSE)))
    assert {name: paths for name, paths in named.items() if len(paths) > 1} == {}


def test_the_fleet_and_the_product_do_not_know_each_other() -> None:
    importing = re.compile(r"^\s*(?:from|import) pipelines", re.MULTILINE)
    assert [path.name for path in FLEET.rglob("*.py") if importing.search(path.read_text())] == []
    assert [path for path in FILES if re.search(r"\bfleet", path.read_text(), re.IGNORECASE)] == []
    assert python_tokens(FLEET.rglob("*.py")) <= 13_500


def test_items_have_one_reader() -> None:
    """Items come from documents, and documents from a tree; a log's labelled lines are no items, but parse alike."""
    calls = re.compile(r"(?<![\w\"`])(parse_item|read_item_line|Document)\(")
    found: dict[str, set[str]] = {}
    for file in FILES:
        for call in calls.findall(re.sub(r"(?m)^(?:class|def) .*$", "", file.read_text(encoding="utf-8"))):
            found.setdefault(call, set()).add(file.relative_to(HOUSE).as_posix())
    assert found["parse_item"] == {"store/document.py", "search/chunks.py"}
    assert found["read_item_line"] == {"store/item.py"}
    assert found["Document"] == {"store/document.py"}


BUDGETS = {
    "store": 78_210, "night": 47_780, "extract": 30_110, "cli": 24_140, "search": 23_720, "agents": 23_310,
    "queries": 20_680, "review": 16_730, "view": 15_400, "loose": 11_100,
}  # fmt: skip
"""Tokens of Python, templates, scripts and tables. A room may take from another; the whole goes down, never up."""
WHOLE = 291_130


def test_no_room_outgrows_its_budget() -> None:
    """Whoever needs more deletes first; the commit names what goes, and the user's report that asks for it."""
    found = tokens_by_room()
    assert {room: size for room, size in found.items() if size > BUDGETS[room]} == {}
    assert sum(found.values()) <= WHOLE
