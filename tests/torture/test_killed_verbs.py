"""Every verb that writes, killed at calls by which it changes something; then one plain run, and nothing is lost."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.torture.conftest import Prepared
from tests.torture.figures import Series
from tests.torture.small import copied, curated, files_of, git, quiet, torn_files
from tests.torture.strace import WARM, injected, needs_strace, python_points, warm_curate

pytestmark = needs_strace
KILL: Final = "signal=SIGKILL"
AT: Final = ("--now", "2026-03-21T12:00")
_GENERATED: Final = re.compile(r"[a-z_]+: |_.*_$|.*\d+ (?:items|entries|decision|fact|rule|todo|risk)")
POINTS: Final = 29
"""Points of a verb, spread over all calls by which it changes something."""
VERBS: Final = {
    "done": ("done", "Call Ben", *AT),
    "resolve": ("resolve", "certificate runs out", *AT),
    "drop": ("drop", "certificate runs out", *AT),
    "end": ("end", "Backups are kept", *AT),
    "correct": ("correct", "Backups are kept", "Backups are kept for a year.", *AT),
    "retract": ("retract", "Backups are kept", *AT),
    "reopen": ("reopen", "Pay the printer", *AT),
    "add": ("add", "Fact", "The", "mast", "is", "made", "of", "ash.", *AT),
    "log": ("log", "Fact: The keel is painted red.", *AT),
    "capture": ("capture", "TRANSCRIPT", *AT),
    "review": ("review", "WAITING", "--accept", *AT),
    "pin": ("pin", "ID", *AT),
    "move": ("move", "SQLITE", "Areas/general.md", *AT),
    "forget": ("forget", "ID", "--yes", *AT),
    "project rename": ("project", "rename", "alpha", "Orion", *AT),
    "project merge": ("project", "merge", "alpha", "Beacon", *AT),
    "undo": ("undo", *AT),
    "run": ("run", *AT),
    "sync": ("run", *AT),
    "index": ("index",),
    "install": ("install", "agents", "--agents-md", "INSTRUCTIONS"),
}


class Ready:
    """A memory in which every verb has something to do, and what lies beside it."""

    def __init__(self, prepared: Prepared, verb: str) -> None:
        self.folder, self.verb = prepared.folder / "verbs", verb
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.root = copied(prepared.source, self.folder / "ready")
        assert curated(self.root)[0] == 0
        memory = ("--memory", str(self.root))
        quiet("add", "Todo", "Pay the printer.", *memory, *AT)
        quiet("done", "Pay the printer", *memory, *AT)
        items = {one["text"]: one["id"] for one in json.loads(quiet("items", "--json", *memory))}
        names = {"ID": items["Backups are kept for ninety days."], "SQLITE": items["Use SQLite for the cache."]}
        names |= {"TRANSCRIPT": self._transcript(), "INSTRUCTIONS": str(self.folder / "AGENTS.md")}
        if verb == "project merge":
            (self.root / "Projects" / "beacon.md").write_text("# Beacon\n")
        if verb == "review":
            (self.root / "Logs" / "2026-03-20.md").write_text("- 09:00 Correction: the buoy is painted twice a year.\n")
            quiet("run", *memory, *AT)
            names["WAITING"] = json.loads(quiet("review", "--json", *memory))[0]["id"]
        if verb == "sync":
            git(self.folder, "clone", "--quiet", "--bare", str(self.root), str(self.folder / "remote.git"))
            git(self.root, "remote", "add", "origin", str(self.folder / "point.git"))
        (self.root / "Logs" / "2026-03-21.md").write_text("- 09:00 Fact: The lamp is on channel seven.\n")
        self.words = tuple(names.get(word, word) for word in VERBS[verb])

    def _transcript(self) -> str:
        place = self.folder / "3f2a9c1e-77.jsonl"
        said = (("user", "Which mast?"), ("assistant", "Decision: The mast is made of spruce."))
        rows = [
            {
                "type": role, "sessionId": "3f2a9c1e-77", "timestamp": "2026-03-20T21:30:00Z", "cwd": "/home/ada/src",
                "message": {"role": role, "content": text},
            }
            for role, text in said
        ]  # fmt: skip
        place.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return str(place)

    def copy(self) -> Path:
        """Return a fresh copy, with the remote as it was."""
        if self.verb == "sync":
            shutil.rmtree(self.folder / "point.git", ignore_errors=True)
            shutil.copytree(self.folder / "remote.git", self.folder / "point.git")
        return copied(self.root, self.folder / "point")


@pytest.fixture
def sharing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str) -> Iterator[None]:
    """Let `sync` share its memory, in processes that are forked with settings of their own."""
    if verb == "sync":
        config = tmp_path / "config.toml"
        config.write_text('providers = ["rules"]\n[push]\nremote = "origin"\n')
        monkeypatch.setenv("CURATE_CONFIG", str(config))
        WARM.close()
        WARM.process = None
    yield
    if verb == "sync":
        WARM.close()
        WARM.process = None


def sentences(root: Path) -> set[str]:
    """Return all that people and agents wrote, without marks and comments: of items, logs and pages."""
    texts = [data.decode() for path, data in files_of(root).items() if not path.startswith("State/")]
    bare = (
        re.sub(r"<!--.*?-->|~~|^\s*[-*] (?:\[.\] )?(?:\d\d:\d\d )?", "", line)
        for text in texts
        for line in text.splitlines()
    )
    return {line.strip() for line in bare if len(line.strip()) > 12 and not _GENERATED.match(line)}


def is_begun(root: Path, path: str, before: dict[str, bytes], after: dict[str, bytes]) -> bool:
    """Whether a file holds all it held, and a part of what was being appended; the same verb appends the rest."""
    now = (root / path).read_bytes() if (root / path).exists() else b""
    return now.startswith(before.get(path, b"")) and after.get(path, b"").startswith(now)


def faults_after(root: Path, must: set[str]) -> Iterator[str]:
    code, said = curated_at(root)
    if code:
        yield f"the next run ended with {code}: {said}"
    yield from (f"{line!r} is gone" for line in sorted(must - sentences(root)))
    checked = warm_curate(root, verb=("check",))
    if checked.code:
        yield f"check says {checked.said}"
    if trouble := git(root, "fsck", "--strict", "--no-dangling"):
        yield f"git fsck says {trouble!r}"
    yield from (f"{lock} was left" for lock in (root / ".git").rglob("*.lock"))
    if (root / ".curate" / "pending").exists():
        yield "a journal was left"


def curated_at(root: Path) -> tuple[int, str]:
    ended = warm_curate(root, verb=("run", "--now", "2026-03-21T12:30"))
    return ended.code, ended.said


@pytest.mark.torture
@pytest.mark.usefixtures("sharing")
@pytest.mark.parametrize("verb", VERBS)
def test_killed(prepared: Prepared, verb: str) -> None:
    kill_verb(prepared, verb, POINTS)


def kill_verb(prepared: Prepared, verb: str, most: int) -> None:
    ready = Ready(prepared, verb)
    root = ready.copy()
    before = sentences(root), files_of(root)
    points = [(call, n) for call, count in python_points(root, ready.words).items() for n in range(1, count + 1)]
    after = files_of(root)
    assert curated_at(root)[0] == 0
    must = before[0] & sentences(root)
    series = Series("killed in any other verb")
    step = max(1, len(points) / most)
    for number in range(min(most, len(points))):
        call, nth = points[int(number * step)]
        root = ready.copy()
        ended = injected(root, call, KILL, str(nth), ready.words)
        series.tried += 1
        if not ended.fired:
            continue
        torn = [path for path in torn_files(root, before[1], after) if not is_begun(root, path, before[1], after)]
        faults = [f"{path} was torn" for path in torn]
        faults += faults_after(root, must)
        lost = bool(torn) or any(fault.endswith("is gone") for fault in faults)
        series.point(f"{verb} {call} {nth}", faults, lost=lost)
    series.close()
