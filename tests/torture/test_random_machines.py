"""Machines that share a memory do anything at random; what nobody deleted stands once, and all end alike."""

import contextlib
import io
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from pipelines.cli import run_cli
from tests.conftest import Memory, Once
from tests.contract.story import DAY, LINES, MARA, NEXT, THIRD, asked, log, night, reword, shares, waiting
from tests.contract.test_kills import MORE, killed
from tests.making import git

_KINDS: Final = ("Decision", "Fact", "Rule", "Todo", "Risk")
_NUMBER: Final = re.compile(r"gauge (\d+)")
_KEPT: Final = ("id", "type", "since", "trust", "confidence", "by")
_EDITS: Final[dict[str, Callable[[str, int], str]]] = {
    "reword": lambda line, n: _NUMBER.sub(rf"gauge \1 again{n}", line),
    "delete": lambda _, __: "",
    "strike": lambda line, _: line if "~~" in line else re.sub(r"^- (\[.\] )?(.*) \^", r"- \1~~\2~~ ^", line),
    "tick": lambda line, _: line.replace("[ ]", "[x]"),
    "drop the id": lambda line, _: re.sub(r" \^k\w+", "", line),
    "nest": lambda line, n: f"- Of {n}:\n  {line}",
    "due": lambda line, n: re.sub(r"due \d{4}", f"due {2030 + n % 60}", line),
    "prose": lambda line, n: f"{line}\nProse {n} of mine.\n\n",
    "add": lambda line, n: f"{line}- Fact: gauge {n} reads by hand\n",
    "move": lambda _, __: "",
    "copy": lambda line, _: line + line,
    "rename": lambda line, _: line,
}


class Machines:
    """Machines with one remote, and the account of what must stand. Every item has a number in its words.

    Args:
        all: the machines.
        seed: decides what happens.
    """

    def __init__(self, machines: list[Memory], seed: int) -> None:
        self.all, self.chance, self.now = machines, random.Random(seed), datetime(2026, 3, 12, 8, tzinfo=UTC)
        self.numbers, self.prose, self.hot = 0, set[str](), 0
        self.written, self.gone, self.changed, self.copied = set[int](), set[int](), set[int](), set[int]()
        self.born = dict[int, dict[str, Any]]()
        self.story = list[str]()

    def step(self) -> None:
        """Let one machine do something."""
        self.now += timedelta(hours=self.chance.randint(1, 6))
        one = self.chance.choice(self.all)
        acts = {self.log: 8, self.edit: 12, self.run: 8, self.sync: 10, self.verb: 8, self.undo: 2, self.clone: 1}
        acts |= {self.answer: 4}
        [act] = self.chance.choices([*acts], [*acts.values()])
        self.story.append(f"{self.now:%m-%d %H} {one.root.name} {act.__name__}")
        act(one)
        half_done = (one.root / ".curate/pending").exists()  # pages are in place, their ledger is not yet
        for item in [] if half_done else self.items(one):
            self.born.setdefault(number_in(item["text"]), item)

    def items(self, one: Memory) -> list[dict[str, Any]]:
        """Return the items that a run has numbered."""
        return [item for item in asked(one, "items") if item["id"] and number_in(item["text"])]

    def new(self) -> tuple[str, str]:
        """Return type and words of a new item."""
        self.numbers += 1
        self.written.add(self.numbers)
        kind = self.chance.choice(_KINDS)
        return kind, f"gauge {self.numbers} reads {self.numbers * 7} bar{' (due 2026-05-01)' * (kind == 'Todo')}"

    def log(self, one: Memory) -> None:
        with (one.root / f"Logs/{self.now:%Y-%m-%d}.md").open("a") as log:
            log.write(f"\nproject: {self.chance.choice(('Alpha', 'Beta', 'Gamma'))}\n\n")
            log.writelines("- {}: {}\n".format(*self.new()) for _ in range(self.chance.randint(1, 3)))

    def edit(self, one: Memory) -> None:
        pages = sorted(path for folder in ("Projects", "Areas") for path in (one.root / folder).glob("*.md"))
        lines = [(page, line) for page in pages for line in page.read_text().splitlines(keepends=True)]
        lines = [(page, line) for page, line in lines if line.startswith("- ") and number_in(line)]
        hot = [(page, line) for page, line in lines if number_in(line) == self.hot]
        if not lines:
            return
        page, line = self.chance.choice(hot if hot and self.chance.random() < 1 / 2 else lines)
        what, number = self.chance.choice([*_EDITS]), number_in(line)
        self.story[-1] += f" {what} {page.name} {line.strip()}"
        self.hot, self.numbers = number, self.numbers + 1
        self.gone |= {number} if what == "delete" else set()
        self.changed.add(number)
        self.written |= {self.numbers} if what == "add" else set()
        self.prose |= {f"Prose {self.numbers} of mine."} if what == "prose" else set()
        self.copied |= {number} if what == "copy" else set()
        if what == "drop the id":  # who changes the words and the mark together has deleted
            self.said(one, "run")
        page.write_text(page.read_text().replace(line, _EDITS[what](line, self.numbers), 1))
        if what == "rename" and page.parent.name == "Projects":
            page.rename(page.with_name(f"page-{self.numbers}.md"))
        if what == "move":
            other = self.chance.choice(pages)
            other.write_text(f"{other.read_text().rstrip()}\n\n## Facts\n\n{line}")

    def verb(self, one: Memory) -> None:
        kind, text = self.new()
        there = [item for item in self.items(one) if item["status"] in {"live", "open"}]
        verbs: dict[str, tuple[str, ...]] = {"add": ("add", kind, text)}
        number = self.numbers
        if there:
            hot = [item for item in there if number_in(item["text"]) == self.hot]
            item = self.chance.choice(hot if hot and self.chance.random() < 1 / 2 else there)
            end = {"Todo": "done", "Risk": "resolve"}.get(item["type"], "end")
            verbs |= {verb: (verb, item["id"]) for verb in (end, "pin", "retract")}
            verbs |= {"correct": ("correct", item["id"], text), "move": ("move", item["id"], "Areas/general.md")}
            page = item["document"].partition("/")[2].removesuffix(".md")
            verbs |= {"project": ("project", "rename", page, f"Name {self.numbers}")}
            number = number_in(item["text"])
        verb = self.chance.choice([*verbs])
        self.story[-1] += f" {' '.join(verbs[verb])}"
        self.hot = number
        self.changed |= {number, self.numbers}
        self.gone |= {number} if verb == "retract" else set()
        if not self.do(one, *verbs[verb]) or verb not in {"add", "correct"}:
            self.gone.add(self.numbers)

    def answer(self, one: Memory) -> None:
        """Answer a question, and reopen what is over."""
        before = {item["id"]: item for item in self.items(one)}
        waits = [("review", entry["id"], self.chance.choice(("--accept", "--reject"))) for entry in waiting(one)]
        over = [("reopen", ident) for ident, item in before.items() if item["status"] not in {"live", "open"}]
        words = self.chance.choice([*waits, *waits, *over, ("review",)])
        self.story[-1] += f" {' '.join(words)}"
        self.said(one, *words)
        after = {item["id"]: item for item in self.items(one)}
        changed = {number_in(item["text"]) for ident, item in before.items() if after.get(ident) != item}
        self.changed |= changed
        self.gone |= changed - {number_in(item["text"]) for item in after.values()}

    def run(self, one: Memory) -> None:
        self.do(one, "run")

    def sync(self, one: Memory) -> None:
        self.do(one, "sync")

    def undo(self, one: Memory) -> None:
        diff = [line for line in self.said(one, "undo", "--dry-run").splitlines() if ": gauge" in line]
        out, back = ({number_in(line) for line in diff if line.startswith(sign)} for sign in "-+")
        self.gone |= out - back
        self.changed |= out | back
        self.story[-1] += f" -{out} +{back}"
        self.do(one, "undo")

    def clone(self, one: Memory) -> None:
        self.said(one, "sync")
        cloned(one)

    def do(self, one: Memory, *words: str) -> bool:
        """Do a command; now and then it is killed at one of the first calls that change something."""
        if self.chance.random() < 3 / 4:
            self.said(one, *words)
            return True
        at = self.chance.randint(1, 60)
        done = killed(one.root, at, *words, "--now", f"{self.now:%Y-%m-%dT%H:%M}") < at
        self.story[-1] += "" if done else f" killed at {at}"
        return done

    def said(self, one: Memory, *words: str) -> str:
        """Return what a command says; it may have nothing to do, or leave something to a person."""
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            code = run_cli([*words, "--now", f"{self.now:%Y-%m-%dT%H:%M}", "--memory", str(one.root)])
        assert code in {0, 1, 2}, out.getvalue()
        return out.getvalue()

    def meet(self) -> None:
        """Let all machines sync and curate until each has what all have."""
        for command in ("sync", "sync", "run", "sync", "sync") * 2:
            for one in self.all:
                self.now += timedelta(hours=1)
                self.said(one, command)

    def check(self) -> None:
        """Check that all machines hold the same, and each item once."""
        first, *others = self.all
        for other in others:
            assert other.files() == first.files()
            assert other.git("rev-parse", "HEAD") == first.git("rev-parse", "HEAD")
        there = self.items(first)
        count = Counter(number_in(item["text"]) for item in there)
        assert [n for n in sorted(self.written - self.gone) if not count[n]] == []
        assert [n for n in sorted(count) if count[n] > 1 and n not in self.copied] == []
        assert len({item["id"] for item in there}) == len(there)
        left = {n: item for item in there if (n := number_in(item["text"])) in self.born.keys() - self.changed}
        assert {n: kept(item) for n, item in left.items()} == {n: kept(self.born[n]) for n in left}
        pages = b"".join(
            data for path, data in first.files().items() if path.partition("/")[0] not in {"State", "Review.md"}
        ).decode()
        assert [text for text in self.prose if pages.count(text) != 1] == []
        for one in self.all:
            assert one.git("status", "--porcelain") == ""
            one.git("fsck", "--strict")


def number_in(text: str) -> int:
    """Return the number of the item that a text names, or 0."""
    return int(found[1]) if (found := _NUMBER.search(text)) else 0


def kept(item: dict[str, Any]) -> list[str]:
    """Return what nobody's edit of another item changes."""
    return [item[key] for key in _KEPT]


def cloned(machine: Memory) -> None:
    """Clone the remote beside a machine, in its place."""
    shutil.rmtree(machine.root, ignore_errors=True)
    remote = machine.root.parent / "remote.git"
    git(remote, "clone", "-q", ".", str(machine.root))


def shared(memory: Memory) -> None:
    shares(memory, memory.root.parent)
    night(memory, DAY, *LINES)
    memory.curate("sync", "--now", "2026-03-11T03:00")


def live(memory: Memory, count: int, seed: int, steps: int) -> None:
    """Let so many machines do so many steps, and check what came of it."""
    others = [memory.aside(memory.root.with_name(f"clone{number}")) for number in range(1, count)]
    for other in others:
        cloned(other)
    machines = Machines([memory, *others], seed)
    try:
        for _ in range(steps):
            machines.step()
        machines.meet()
        machines.check()
    except BaseException:
        print(*machines.story, sep="\n")
        raise


@pytest.fixture
def first(once: Once, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Return a memory that is shared."""
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    return once(shared)


@pytest.mark.torture
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("seed", range(13))
def test_a_thousand_steps(first: Memory, count: int, seed: int) -> None:
    live(first, count, seed, 40)


def kill_a_join(first: Memory, folder: Path, verb: str, most: int) -> None:
    """Kill a machine that joins what another one did, at so many of its changes; what follows makes it good."""
    other, there = first.aside(first.root.with_name("clone1")), first.root.parent
    cloned(other)
    night(first, NEXT, "Fact: The kettle is new.", f"Done: {MARA}")
    reword(other, "8080", "9090")
    log(other, THIRD, "Fact: The gateway has two fans.")
    shutil.copytree(there, folder, symlinks=True)
    words = (verb, "--now", "2026-03-13T23:00")

    def met() -> dict[str, bytes]:
        for one in (other, first, other):
            one.curate(*words)
        assert other.git("status", "--porcelain") == ""
        assert other.git("rev-parse", "HEAD") == first.git("rev-parse", "HEAD")
        return {path: data for path, data in other.files().items() if not path.startswith("State/runs/")}

    count, whole = killed(other.root, MORE, *words), met()
    for number in range(1, count + 1, max(1, count // most)):
        shutil.rmtree(there)
        shutil.copytree(folder, there, symlinks=True)
        assert killed(other.root, number, *words) == number
        assert met() == whole, number


def test_a_join_may_be_killed(first: Memory, tmp_path_factory: pytest.TempPathFactory) -> None:
    kill_a_join(first, tmp_path_factory.mktemp("join") / "all", "sync", 2)


@pytest.mark.torture
@pytest.mark.parametrize("verb", ["sync", "run"])
def test_a_join_may_be_killed_anywhere(first: Memory, tmp_path_factory: pytest.TempPathFactory, verb: str) -> None:
    kill_a_join(first, tmp_path_factory.mktemp("join") / "all", verb, MORE)
