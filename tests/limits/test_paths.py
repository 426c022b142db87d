"""Names that would lead elsewhere, by every way in which somebody can name something: none is a path to the disk."""

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from pipelines.cli import run_cli
from tests.conftest import Memory, Once

NAMES: Final = (
    ".git", ".git/config", "..", "../../x", "../outside/x", ".", "~", "~/x", "/etc/passwd", "CON", "nul.md", "COM1",
    "lpt9.txt", "a" * 300, "é" * 200, "ends with dots...", "ends with blanks   ", "...", " ", "Cafe\u0301", "ﬁle",
    "\uff0e\uff0e\uff0f\uff0e\uff0e\uff0fx", "\u2024\u2024/x", "..\\..\\x", "C:\\x", "C:x", "one\ntwo", "one\r\n# two",
    "\u202egnp.exe", "\u2066x\u2069", "\u200b.git", ".g\u200cit", "\ufeffx", "-rf", "--help", "$(touch x)", "`touch x`",
    "a|b", "a*b?", '"', "{YYYY}", "[x](../../x)", "<!-- x -->", "\x1b[31mred", "\x7f", "\U000e0041", "GIT~1", ".GIT ",
    "MEMORY.md", "Projects", "Logs/2026-03-10", "State/progress.jsonl", ".curate/lock", "curate.toml",
)  # fmt: skip
ODDER: Final = (*NAMES, "a\0b", "\0", "\ud800")
"""What a file can hold, too, and no argument of a command."""

_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_OWN: Final = {".git", ".curate", ".gitignore", ".gitattributes"}


class Watched:
    """A memory, all around it, and what of its repository git alone may change."""

    def __init__(self, memory: Memory) -> None:
        self.memory, self.root = memory, memory.root
        outside = memory.root.parent / "outside"
        outside.mkdir()
        (outside / "x").write_text("mine\n")
        self._around, self._git = self.around(), self.repository()

    def around(self) -> dict[str, bytes]:
        return {
            str(path): path.read_bytes() if path.is_file() else b""
            for path in sorted(self.root.parent.rglob("*"))
            if path != self.root and self.root not in path.parents
        }

    def repository(self) -> dict[str, bytes]:
        own = ("objects", "logs", "refs", "index", "COMMIT_EDITMSG")
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in sorted((self.root / ".git").rglob("*"))
            if path.is_file() and path.relative_to(self.root / ".git").parts[0] not in own
        }

    def do(self, *words: str) -> str:
        """Run a command, whatever it ends with, and see that nothing but the memory changed, and that plainly."""
        try:
            code = run_cli([*words, "--memory", str(self.root)])
        finally:
            said = self.memory._capsys.readouterr()
        told = said.out + said.err
        assert code in {0, 1, 2}, (words, told)
        assert "Traceback" not in told
        assert "bug" not in told.casefold(), (words, told)
        assert not set(said.err) & set("\x00\x1b\x7f\u202e\u2066"), (words, told)
        assert self.around() == self._around, words
        assert self.repository() == self._git, words
        for path in self.names():
            self.check(path)
        return told

    def names(self) -> Iterator[Path]:
        for path in self.root.rglob("*"):
            if (where := path.relative_to(self.root)).parts[0] != ".git":
                yield where

    def check(self, path: Path) -> None:
        """See that a path of the memory could stand on every disk."""
        *_, name = path.parts
        assert len(name.encode()) <= 200, name
        if path.parts[0] in _OWN:
            return
        assert not name.startswith((".", "~")), path
        assert name == name.rstrip(". "), path
        assert name.isprintable(), path
        assert not set(name) & set('\\:*?"<>|'), path
        assert not _RESERVED.fullmatch(name), path
        assert unicodedata.is_normalized("NFC", name), path


def a_night(memory: Memory) -> None:
    memory.day("2026-03-10", "project: Alpha\n\n- Fact: The port of the gateway is 8080\n")


@pytest.fixture
def watched(once: Once) -> Watched:
    return Watched(once(a_night))


def ident(watched: Watched) -> str:
    (found,) = watched.memory.json("items")
    return str(found["id"])


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.torture) for part in range(1, 6))])
def test_names_of_projects(watched: Watched, part: int) -> None:
    for name in NAMES[part::6]:
        watched.do("project", "rename", "--", "alpha", name)
        watched.do("project", "rename", "--", name, "alpha")


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.torture) for part in range(1, 6))])
def test_names_of_documents_and_days(watched: Watched, part: int) -> None:
    item = ident(watched)
    for number, name in enumerate(NAMES[part::6]):
        watched.do("add", f"--document={name}", "--", "fact", f"What is so {number}")
        watched.do("move", "--", item, name)
        watched.do("log", f"--project={name}", "--", f"said {name}")
        watched.do("search", f"--project={name}", "--", "gateway")
        watched.do("items", f"--document={name}")
        watched.do("why", "--", name)
        watched.do("review", "--choose=keep", "--", name)
        watched.do("context", f"--project={name}")
    watched.do("run", "--now", "2026-12-31T02:00")


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.torture) for part in (1, 2))])
def test_names_in_logs(watched: Watched, part: int) -> None:
    for number, name in enumerate(ODDER[part::3]):
        told = name.encode(errors="replace").decode()
        text = (
            f"project: {told}\n\n- Fact: The gateway {number} stands in hall {number}\n\n# {told}\n\n"
            f"- [project: {told}] Fact: The printer {number} stands in hall {number}\n"
            f"- Todo: See [[{told}]] and [it]({told}) about door {number} #{told}\n"
        )
        watched.memory.write(f"Logs/2026-01-{number % 28 + 1:02}.md", text)
        watched.memory.write(f"Logs/partial/2026-02-{number % 28 + 1:02}-{number}.md", text)
        if number % 28 == 27:
            watched.do("run", "--now", "2026-03-12T02:00")
    watched.do("run", "--now", "2026-03-12T03:00")


def test_names_in_documents_and_state(watched: Watched) -> None:
    rows = []
    for number, name in enumerate(ODDER):
        told = name.encode(errors="replace").decode()
        front = f"---\ntitle: {told}\nkind: {told}\nstatus: {told}\n---\n# {told}\n\n"
        line = f"## Facts\n\n- Fact: See [[{told}]] <!-- k{number:010x} since=2026-03-10 from={told}#L1~aaaa -->\n"
        watched.memory.write(f"Projects/p{number}.md", front + line)
        rows += [{"path": told, "day": told, "file": told, "head": told, "id": told, "lines": 1, "digest": told}]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    for name in ("progress", "tombstones", "captured", "aliases"):
        file = watched.root / "State" / f"{name}.jsonl"
        file.write_text((file.read_text() if file.exists() else "") + text)
    watched.memory.write("Review.md", "# Review\n\n" + "".join(f"- [x] restore: {name!r}\n" for name in NAMES))
    for verb in (("run", "--now", "2026-03-12T02:00"), ("check",), ("index",), ("status",)):
        watched.do(*verb)


def test_names_in_transcripts(watched: Watched, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("sessions")
    for number, name in enumerate(ODDER):
        record = {
            "type": "user", "sessionId": name, "uuid": name, "cwd": name, "gitBranch": name, "version": name,
            "timestamp": "2026-03-12T09:00:00Z", "message": {"role": "user", "content": f"Hello {number} {name}"},
        }  # fmt: skip
        odd = {**record, "timestamp": name}
        (folder / f"{number}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (record, odd)))
    watched.do("capture", str(folder))
    for name in NAMES[:20]:
        watched.do("capture", f"--project={name}", str(folder / "0.jsonl"))
    watched.do("run", "--now", "2026-03-13T02:00")
    assert len(list((watched.root / "Sessions").rglob("*.jsonl"))) >= 50
