"""Every kind of file in `.curate` and `State`, damaged: seen and mended, named with its remedy, or healed."""

import contextlib
import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from pipelines.cli import run_cli
from tests.torture.conftest import Prepared
from tests.torture.figures import Series
from tests.torture.small import copied, curated, quiet

DAY: Final = "2026-03-23"
DAMAGE: Final[dict[str, Callable[[bytes], bytes | None]]] = {
    "emptied": lambda _: b"",
    "cut": lambda data: data[: len(data) // 2],
    "flipped": lambda data: (
        data[: len(data) // 2] + bytes(b ^ 0x5A for b in data[len(data) // 2 :][:4]) + data[len(data) // 2 + 4 :]
    ),
    "removed": lambda _: None,
}
MENDED, NAMED, HEALS = "mended", "named", "heals"
KINDS: Final = {
    ".curate/*": {MENDED, HEALS},
    ".curate/*/*": {MENDED, HEALS},
    "State/tombstones.jsonl": {NAMED},
    "State/progress.jsonl": {NAMED, HEALS},
    "State/sessions.jsonl": {NAMED, HEALS},
    "curate.toml": {NAMED, HEALS},  # an empty one sets nothing, as any may
}
"""What is damaged, and what may become of it."""


@pytest.fixture(scope="module")
def rich(prepared: Prepared) -> Path:
    """Return a memory with each kind of file, and a day that waits."""
    root = copied(prepared.source, prepared.folder / "rich")
    assert curated(root)[0] == 0
    ident = json.loads(quiet("items", "--json", "--memory", str(root)))[0]["id"]
    quiet("forget", ident, "--yes", "--memory", str(root), "--now", "2026-03-21T12:00")
    (root / "State" / "sessions.jsonl").write_text('{"file": "a", "head": "b", "lines": 1, "digest": "c"}\n')
    (root / "Logs" / "2026-03-22.md").write_text("- 09:00 Fact: The lamp is on channel seven.\n")
    return root


def told(*words: str) -> tuple[int, str]:
    said = io.BytesIO()
    out = io.TextIOWrapper(said, write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = run_cli(words)
        return code, said.getvalue().decode()


def tried(root: Path) -> Iterator[str]:
    """Yield what became of a damaged memory, one of the three, and before it whatever is wrong."""
    memory = ("--memory", str(root))
    code, said = told("check", *memory)
    if code == 0:
        code, night = told("run", "--now", f"{DAY}T02:00", *memory)
        yield from [f"check sees nothing, and the night ended with {code}: {night}"] * bool(code)
        yield from [f"check after the night: {later[1]}" for later in [told("check", *memory)] if later[0]]
        yield HEALS
        return
    if not (root / "curate.toml").exists():
        yield NAMED if "checkout HEAD -- curate.toml`" in said else f"no remedy: {said}"
        return
    if "Fix the file and run again" in said:  # settings are a person's, and the line is named
        yield NAMED
        return
    aside = copied(root, root.parent.parent / "aside")
    for words in (("run", "--now", f"{DAY}T02:00"), ("status",), ("runs",), ("doctor",)):
        code, said = told(*words, "--memory", str(aside))
        if code == 3:
            yield f"{words[0]} ended with {code}: {said}"
        if words[0] == "run" and not code:
            break
    code, said = told("check", "--json", *memory)
    faults = json.loads(said) if code == 1 else []
    yield from [f"no remedy: {fault['what']}" for fault in faults if "`" not in fault["what"]]
    failed, why = told("run", "--now", f"{DAY}T02:00", *memory)
    if failed:
        yield f"the night ended with {failed}: {why}"
    yield NAMED if faults else MENDED


def damage(rich: Path, folder: Path, kind: str, how: str, series: Series) -> None:
    for file in sorted(file for file in rich.glob(kind) if file.is_file()):
        root = copied(rich, folder / "damaged")
        place = root / file.relative_to(rich)
        data = DAMAGE[how](file.read_bytes())
        place.unlink(missing_ok=True)
        if data is not None:
            place.write_bytes(data)
        *faults, became = tried(root)
        faults += [] if became in KINDS[kind] else [f"it is {became}"]
        series.tried += 1
        lost = "mine alone" not in (root / "SOUL.md").read_text()
        series.point(f"{file.relative_to(rich)} {how}", faults, lost=lost)
        shutil.rmtree(root)
    series.close()


@pytest.mark.torture
@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("kind", KINDS)
def test_damaged(rich: Path, prepared: Prepared, kind: str, how: str) -> None:
    damage(rich, prepared.folder, kind, how, Series("a file damaged"))


@pytest.mark.parametrize(("kind", "how"), [(".curate/*", "flipped"), ("State/progress.jsonl", "cut")])
def test_some_damaged(rich: Path, prepared: Prepared, kind: str, how: str) -> None:
    damage(rich, prepared.folder, kind, how, Series("a file damaged (short cut)"))
