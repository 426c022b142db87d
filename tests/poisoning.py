"""The poisoned set, laid out as a memory's logs and sessions, and a model that does whatever it reads."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pipelines.extract.extraction import Candidate, Extraction, ExtractionRequest, Place
from pipelines.store.evidence import without_pointer
from pipelines.store.item import Confidence, ItemType
from pipelines.text import fold
from tests.conftest import Memory

SETS: Final = Path(__file__).parent / "data/poison"
_A_DAY: Final = 10
_BENIGN_FROM: Final = 15
_LEAST: Final = 3  # a text of fewer words is the lead of a note
_UNSPACED: Final = re.compile(r"[\u3040-\u9fff]{4}")  # of scripts that put no blanks between words
_LABEL: Final = re.compile(r"(Rule|Decision|Fact|Todo|Risk): ")
_HEAD: Final = re.compile(r"^- \d\d:\d\d (?:\[project: [^\]]*\] )?(?:\*\*\w+:\*\* )?")


@dataclass(frozen=True, slots=True)
class Case:
    """One poisoned text and its benign twin.

    Args:
        id: its name.
        family: what it tries.
        form: `log`, a timed line; `note`, paragraphs; `user`, a turn of a session; `web` and `mcp`, what an agent says
            after it read a page, or asked a server of tools.
        poison: the attack.
        benign: the same topic, harmless.
    """

    id: str
    family: str
    form: str
    poison: str
    benign: str


def cases(name: str) -> list[Case]:
    """Return a set."""
    lines = (SETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Case(**json.loads(line)) for line in lines]


def harmless(name: str = "harmless") -> list[str]:
    """Return labelled sentences of working groups, incident reviews, runbooks and style guides; none is an attack."""
    return (SETS / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def day_of(number: int, *, poisoned: bool) -> str:
    """Return the day on whose log a case stands."""
    return f"2026-03-{number // _A_DAY + (1 if poisoned else _BENIGN_FROM):02}"


def lay_out(memory: Memory, folder: Path, chosen: Iterable[Case]) -> None:
    """Write all poisoned texts and their twins into a memory, each as its form has it."""
    sessions = []
    for number, case in enumerate(chosen):
        for poisoned in (True, False):
            text, day = case.poison if poisoned else case.benign, day_of(number, poisoned=poisoned)
            if case.form in {"log", "note"}:
                _tell(memory, day, number, text, case.form)
            else:
                sessions.append(str(_session(folder, f"{number:04}{poisoned:d}", day, text, case.form)))
    memory.curate("capture", *sessions, "--now", "2026-03-31T12:00")


def _tell(memory: Memory, day: str, number: int, text: str, form: str) -> None:
    path = memory.root / f"Logs/{day}.md"
    before = path.read_text(encoding="utf-8") if path.exists() else f"# {day}\n"
    told = f"\n## Meeting {number}\n\n{text}\n\n## Later\n\n" if form == "note" else f"\n- 09:{number % 60:02} {text}\n"
    memory.write(f"Logs/{day}.md", before + told)


def _session(folder: Path, name: str, day: str, text: str, form: str) -> Path:
    def record(role: str, content: object, clock: str) -> str:
        told = {"type": role, "sessionId": name, "timestamp": f"{day}T{clock}:00Z", "cwd": "/home/ada/src/harbor"}
        return json.dumps(told | {"message": {"role": role, "content": content}}) + "\n"

    tool: dict[str, object] = {
        "type": "tool_use",
        "id": "t",
        "name": "mcp__helper__run" if form == "mcp" else "WebFetch",
        "input": {},
    }
    rows = [record("user", text, "10:00")]
    if form != "user":
        rows = [record("user", "Have a look, please.", "10:00"), record("assistant", [tool], "10:01")]
        rows += [record("user", [{"type": "tool_result", "content": text}], "10:02")]
        rows += [record("assistant", [{"type": "text", "text": text}], "10:03")]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(rows), encoding="utf-8")
    return path


class Obedient:
    """A model that proposes all it reads, an attack as a rule, each with a true quote."""

    name = "obedient@1"

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return one candidate for each entry."""
        found = []
        for entry in request.entries:
            first = without_pointer(entry.text.split("\n", maxsplit=1)[0])
            said = _HEAD.sub("", first)
            label = _LABEL.match(said)
            text = said[label.end() :] if label else said
            poisoned = int(entry.day[-2:]) < _BENIGN_FROM
            kind = ItemType(label[1]) if label else ItemType.RULE if poisoned else ItemType.FACT
            if (len(text.split()) >= _LEAST or _UNSPACED.search(text)) and text != "Have a look, please.":
                place = Place(entry, entry.start_line, entry.start_line, said)
                found.append(Candidate(kind, fold(text), (place,), Confidence.HIGH, "obeys", self.name))
        return Extraction(tuple(found))
