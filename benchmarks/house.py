"""Print how large the code is, and how far one new line of a log goes through it.

usage: python -m benchmarks.house

Tokens are Python's own, without comments, docstrings and what is layout alone. A function is entered when a night
calls it, wherever it is defined; the bodies of classes, comprehensions and lambdas are none. Git processes are those
that the night starts itself.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import tokenize
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pipelines
from pipelines.start import main as start

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import FrameType

HOUSE = Path(pipelines.__file__).parent
FLEET = HOUSE.parent / "deploy" / "fleet" / "curate_fleet"
_SILENT = {
    tokenize.COMMENT, tokenize.ENCODING, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_OTHERS = {".j2", ".js", ".css", ".toml"}
_WORD = re.compile(r"\w+|[^\w\s]")
_FUNCTION = 0x2
"""The flag of code with locals of its own, `inspect.CO_NEWLOCALS`; the body of a class has none."""


def main() -> None:
    """Print the table."""
    if sys.argv[1:]:
        _watch()
        return
    rows = {**sizes(), **one_night()}
    wide = max(map(len, rows))
    for name, value in rows.items():
        print(f"{name:{wide}}  {value}")


def sizes() -> dict[str, str]:
    """Return what is counted in the files, by what it is called."""
    files = sorted(HOUSE.rglob("*.py"))
    texts = {path: path.read_text() for path in files}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    lines = sum(text.count("\n") for text in texts.values())
    docstrings = [_docstring(tree) for tree in trees.values()]
    documented = sum(node.end_lineno - node.lineno + 1 for found in docstrings for node in found if node.end_lineno)
    nodes = [(path, node) for path, tree in trees.items() for node in ast.walk(tree)]
    functions = [(path, node) for path, node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    longest = max(functions, key=lambda found: _height(found[1]))
    names = Counter(path.name for path in files if path.name not in {"__init__.py", "__main__.py"})
    doubled = sorted(name for name, count in names.items() if count > 1)
    largest = max(files, key=lambda path: texts[path].count("\n"))
    return {
        "Python tokens": f"{python_tokens(files):,}",
        "tokens of templates, scripts, tables": f"{other_tokens(HOUSE):,}",
        "Python tokens of curate-fleet": f"{python_tokens(FLEET.rglob('*.py')):,}",
        "docstrings' share of lines": f"{documented / lines:.1%}",
        "files": str(len(files)),
        "rooms": str(sum(1 for path in HOUSE.iterdir() if (path / "__init__.py").exists())),
        "loose files": str(sum(1 for path in HOUSE.iterdir() if path.suffix == ".py")),
        "dataclasses": str(sum(1 for _, node in nodes if isinstance(node, ast.ClassDef) and _is_dataclass(node))),
        "doubled file names": ", ".join(doubled) or "none",
        "longest file": f"{texts[largest].count(chr(10))} lines, {largest.relative_to(HOUSE)}",
        "longest function": f"{_height(longest[1])} lines, {longest[1].name} in {longest[0].relative_to(HOUSE)}",
    }


def python_tokens(files: Iterable[Path]) -> int:
    """Return how many tokens files of Python have, without comments, docstrings and layout."""
    texts = [path.read_text() for path in files]
    return sum(_tokens(text, ast.parse(text)) for text in texts)


def other_tokens(folder: Path) -> int:
    """Return how many words and signs the templates, scripts, styles and tables of a folder have.

    What others wrote (`*.min.js`) is not counted.
    """
    files = (path for path in folder.rglob("*") if path.suffix in _OTHERS and not path.name.endswith(".min.js"))
    return sum(len(_WORD.findall(path.read_text())) for path in files)


def tokens_by_room() -> dict[str, int]:
    """Return how many tokens each room has, Python and the rest alike; the loose files are one room."""
    folders = [path for path in sorted(HOUSE.iterdir()) if (path / "__init__.py").exists()]
    found = {one.name: python_tokens(one.rglob("*.py")) + other_tokens(one) for one in folders}
    others = [one for one in HOUSE.iterdir() if one.is_dir() and one not in folders]
    return {**found, "loose": python_tokens(HOUSE.glob("*.py")) + sum(map(other_tokens, others))}


def _docstring(tree: ast.AST) -> Iterator[ast.Expr]:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
                yield first


def _tokens(text: str, tree: ast.AST) -> int:
    starts = {(node.lineno, node.col_offset) for node in _docstring(tree)}
    found = tokenize.tokenize(io.BytesIO(text.encode()).readline)
    return sum(1 for token in found if token.type not in _SILENT and token.start not in starts)


def _height(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)


def one_night() -> dict[str, str]:
    """Return what one new line enters, in a memory that has lived for a week, by what it is called."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "memory"
        kept = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
        env = kept | {"HOME": folder, "CURATE_CONFIG": os.devnull, "TZ": "UTC", "CURATE_MEMORY": str(root)}

        def python(*words: str) -> str:
            return subprocess.run([sys.executable, *words], check=True, capture_output=True, text=True, env=env).stdout

        python("-m", "pipelines.cli", "init", str(root), "--now", "2026-03-09T08:00")
        shutil.copytree(HOUSE.parent / "examples" / "sample_week" / "Logs", root / "Logs", dirs_exist_ok=True)
        python("-m", "pipelines.cli", "run", "--now", "2026-03-16T02:00")
        (root / "Logs" / "2026-03-16.md").write_text("# 2026-03-16\n\n- 10:05 Decision: Use blue paint, not red.\n")
        nights = [
            json.loads(python("-m", "benchmarks.house", "run", "--now", f"2026-03-{day}T02:00").splitlines()[-1])
            for day in (17, 18)
        ]
    entered = [tuple(code) for code in nights[0]["entered"]]
    rooms = Counter(Path(file).relative_to(HOUSE).parts[0] for file, _ in entered)
    return {
        "functions entered for one line": f"{len(entered)} in {len({file for file, _ in entered})} files",
        "most of them in": ", ".join(f"{room} {count}" for room, count in rooms.most_common(6)),
        "Python tokens that such a night imports": f"{python_tokens(map(Path, nights[0]['imported'])):,}",
        "git processes": f"{nights[0]['git']} for that night, {nights[1]['git']} for one with nothing new",
    }


def _watch() -> None:
    """Do what `curate` is told, and print which functions of the house it enters, and how many gits it starts."""
    entered: set[tuple[str, int]] = set()
    started: list[str] = []

    def enter(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_flags & _FUNCTION and code.co_filename.startswith(f"{HOUSE}/"):
            entered.update({(code.co_filename, code.co_firstlineno)} if code.co_name[0] != "<" else ())

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if event == "subprocess.Popen" and "git" in cast("Sequence[str]", arguments[1]):
            started.append(event)

    sys.addaudithook(hear)
    threading.setprofile(enter)
    sys.setprofile(enter)
    try:
        start()
    except SystemExit:
        sys.setprofile(None)
    files = {getattr(module, "__file__", None) or "" for module in [*sys.modules.values()]}
    imported = sorted(file for file in files if file.startswith(f"{HOUSE}/"))
    print(json.dumps({"entered": sorted(entered), "imported": imported, "git": len(started)}))


if __name__ == "__main__":
    main()
