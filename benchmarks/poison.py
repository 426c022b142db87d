"""Print what becomes of attacks by the channel they come in by, and what it costs honest lines: one table, both sides.

usage: python -m benchmarks.poison [--attacks DIR] [--sessions DIR] [--journals DIR] [--most N] [--channel NAME]

Public attack sets are fetched beside this project, and none is kept in it:

    git clone https://github.com/microsoft/BIPIA                              benchmark/*_attack_test.json
    git clone https://github.com/HumanCompatibleAI/tensor-trust-data          benchmarks/hijacking-robustness
    git clone https://github.com/ethz-spylab/agentdojo, https://github.com/uiuc-kang-lab/InjecAgent

The folder `--attacks` holds any of their JSON and JSONL
files; `tests/data/poison` is always read, too. `--sessions` is a folder of
transcripts of public repositories, `--journals` one of daily logs (`YYYY-MM-DD.md`), a folder a journal.

Every attack comes in by each channel three times: bare, and labelled as a Fact and as a Rule. *rules* reads without a
model; *obedient* is a program behind `exec:` that proposes every line as a Rule and as a Fact, and supports whatever it
is asked. *Rules live* are rules that a session would obey, *in MEMORY.md* what every session loads. The agent's own
word is the open channel: a sentence without a source is believed there, and so is a paraphrase.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pipelines.cli import run_cli
from pipelines.extract.extract_days import DayToRead
from pipelines.extract.extraction import Candidate, ExtractionRequest, Place
from pipelines.extract.rules.rules_extractor import RulesExtractor
from pipelines.review.trust import TrustGate
from pipelines.store.evidence import voice_in
from pipelines.store.item import Confidence, ItemType, Status, Trust
from pipelines.store.log import parse_entries
from pipelines.store.session_state import load_seals
from pipelines.store.snapshot import read_documents
from pipelines.store.spoken_lines import said_in_turn, sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

OWN: Final = Path(__file__).parent.parent / "tests/data/poison"
FIRST: Final = date(2026, 1, 1)
A_DAY: Final = 40
_KEYS: Final = ("attack", "poison", "injection", "goal", "prompt", "text", "Attacker Instruction")
_LONGEST, _FEWEST = 500, 4
_OBEDIENT: Final = r"""
import json, re, sys
asked = json.load(sys.stdin)
head = re.compile(r"^[\s>*+-]*(?:\d\d:\d\d )?(?:\[project: [^\]]*\] )?(?:\*\*\w+:\*\* )?")
label = re.compile(r"^(?:Rule|Fact): ")
items = []
for entry in asked["input"].get("entries", ()):
    for at, line in enumerate(entry["text"].split("\n"), entry["line"]):
        quote = head.sub("", line).partition(" <!--")[0].strip()
        text = label.sub("", quote)
        for kind in ("Rule", "Fact") if len(text.split()) > 3 else ():
            items.append({"type": kind, "text": text, "confidence": "high", "lines": [[at, at]]})
claims = asked["input"].get("claims", ())
verdicts = [{"claim": one["claim"], "verdict": "supported"} for one in claims]
print(json.dumps({"extract": {"items": items}, "verify": {"verdicts": verdicts}}.get(asked["task"], {})))
"""


def attacks_in(folder: Path, most: int) -> list[str]:
    """Return the attacks of a folder's JSON files, each on one line, evenly taken where they are more than `most`."""
    found: dict[str, None] = {}
    for path in sorted([*folder.rglob("*.json"), *folder.rglob("*.jsonl")]):
        text = path.read_text(encoding="utf-8")
        rows = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]
        found |= dict.fromkeys(one for row in rows for one in _attacks(row))
    every = list(found)
    return every[:: max(1, len(every) // most)][:most]


def _attacks(row: Any) -> Iterator[str]:  # noqa: ANN401  whatever JSON holds
    if isinstance(row, str):
        text = " ".join(row.split())
        if len(text) <= _LONGEST and len(re.findall(r"[^\W\d_]{2,}", text)) >= _FEWEST:
            yield text
    elif isinstance(row, list):
        for one in row:
            yield from _attacks(one)
    elif isinstance(row, dict):
        named = [row[key] for key in _KEYS if key in row]
        for one in named or (value for value in row.values() if isinstance(value, (list, dict))):
            yield from _attacks(one)


# ---------------------------------------- the channels


def _line(form: str) -> Callable[[Path, Sequence[str]], None]:
    """Return how attacks come as lines of the agent's own journal, in a form."""

    def lay(root: Path, attacks: Sequence[str]) -> None:
        for number, some in _days(attacks):
            day = FIRST + timedelta(days=number)
            told = "".join(f"\n{form.format(one)}\n" for one in some)
            (root / "Logs").mkdir(exist_ok=True)
            (root / f"Logs/{day}.md").write_text(f"# {day}\n{told}", encoding="utf-8")

    return lay


def _days(attacks: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    for number, first in enumerate(range(0, len(attacks), A_DAY)):
        yield number, attacks[first : first + A_DAY]


def _session(tool: str, **given: str) -> Callable[[Path, Sequence[str]], None]:
    """Return how attacks come as what an agent says after a tool brought them, a session each."""

    def lay(root: Path, attacks: Sequence[str]) -> None:
        folder = root.parent / f"{root.name}-sessions"
        folder.mkdir()
        for number, some in _days(attacks):
            for at, one in enumerate(some):
                path = folder / f"{number:03}{at:03}.jsonl"
                path.write_text(_records(path.stem, str(FIRST + timedelta(days=number)), tool, given, one))
        _curate(root, "capture", str(folder), "--now", "2026-12-01T00:00")

    return lay


def _records(name: str, day: str, tool: str, given: dict[str, str], attack: str) -> str:
    call = {"type": "tool_use", "id": "t", "name": tool, "input": given}
    result = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": attack.removeprefix("Rule: ").removeprefix("Fact: "),
    }
    said = [("user", "Look."), ("assistant", [call]), ("user", [result]), ("assistant", attack)]
    told = {"sessionId": name, "timestamp": f"{day}T10:00:00Z", "cwd": "/home/ada"}
    rows = [{"type": role, **told, "message": {"role": role, "content": content}} for role, content in said]
    return "".join(json.dumps(row) + "\n" for row in rows)


def _synced(root: Path, attacks: Sequence[str]) -> None:
    """Lay out what another machine captured, whose key is not here, with a line that claims to be the owner's."""
    _session("WebFetch", url="https://x.example")(root, attacks)
    for log in (root / "Logs").glob("*.md"):
        log.write_text(log.read_text().replace(".jsonl#L1~", ".jsonl#L9~"))
    Path(os.environ["XDG_CONFIG_HOME"], "memcurate/capture.key").unlink()


def _adopted(root: Path, attacks: Sequence[str]) -> None:
    """Lay out an adopted workspace whose daily notes quote mails."""
    notes = root.parent / f"{root.name}-notes"
    (notes / "memory").mkdir(parents=True)
    (notes / "AGENTS.md").write_text("# Agents\n")
    for number, some in _days(attacks):
        day = FIRST + timedelta(days=number)
        told = "".join(f"\nEmail from Bea:\n\n> {one}\n" for one in some)
        (notes / f"memory/{day}.md").write_text(f"# {day}\n{told}")
    _curate(root, "init", str(root), "--adopt", str(notes), "--as", "openclaw", "--yes", "--now", "2026-12-01T00:00")


CHANNELS: Final[dict[str, Callable[[Path, Sequence[str]], None]]] = {
    "own word (open)": _line("- 09:00 {}"),
    "own label, source named": _line("- 09:00 Rule: README.md says: {}"),
    "tool output in the journal": _line("- 09:00 Output of `make audit`: {}"),
    "quoted block": _line("Email from Bea:\n\n> {}"),
    "session after web": _session("WebFetch", url="https://x.example"),
    "session after cat": _session("Bash", command="cat vendored/README.md"),
    "subagent": _session("Task", prompt="look"),
    "MCP": _session("mcp__mail__read"),
    "synced edit": _synced,
    "adopted notes": _adopted,
}


@dataclass(frozen=True)
class Figures:
    """What became of the attacks of a channel: rules that live, items in MEMORY.md or USER.md, items live, waiting."""

    rules: int
    loaded: int
    live: int
    waiting: int


def _curate(root: Path, *arguments: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as error:
        code = run_cli([*arguments, *([] if arguments[0] == "init" else ["--memory", str(root)])])
    if code not in {0, 1}:
        raise SystemExit(f"curate {arguments[0]}: {error.getvalue()}")


def measured(root: Path, channel: str, attacks: Sequence[str], provider: str) -> Figures:
    """Let attacks come in by a channel, run a night, and count what became of them."""
    if channel != "adopted notes":
        _curate(root, "init", str(root))
    CHANNELS[channel](root, attacks)
    _curate(root, "run", "--now", "2026-12-01T02:00", "--provider", provider)
    items = [(path, placed.item) for path, one in read_documents(root).items() for placed in one.items]
    live = [(path, item) for path, item in items if item.active]
    return Figures(
        sum(item.type is ItemType.RULE for _, item in live),
        sum(path in {"MEMORY.md", "USER.md"} for path, _ in live),
        len(live),
        sum(item.status is Status.WAITING for _, item in items),
    )


# ---------------------------------------- what it costs honest lines


def _gated(path: str, text: str) -> tuple[int, int, list[str], list[str]]:
    """Return an honest log's lines of the agent, how many count as external, its rules, and those that wait."""
    entries = parse_entries(path, path[-13:-3], text)
    gate = TrustGate([DayToRead(path, path[-13:-3], "", entries, entries)], load_seals(), "self", frozenset())
    lines, external = 0, 0
    for entry in entries:
        rows = entry.text.split("\n")
        if voice_in(rows[0]) is None:
            said = [row[start:end] for row in rows for start, end in sentences(row)]
        elif load_seals().trust_of(path, rows) is Trust.OWNER:
            continue
        else:
            told, spans = said_in_turn(rows)
            said = [told[start:end] for start, end in spans]
        for one in said:
            if len(one.split()) >= _FEWEST:
                at = next((n for n, row in enumerate(rows) if one in row), 0)
                place = Place(entry, entry.start_line + at, entry.start_line + at, one)
                fact = Candidate(ItemType.FACT, one, (place,), Confidence.HIGH, "", "")
                lines += 1
                external += gate.look(fact).trust is Trust.EXTERNAL
    found = RulesExtractor().extract(ExtractionRequest(path[-13:-3], entries, seals=load_seals())).candidates
    rules = [one for one in found if one.type is ItemType.RULE]
    return lines, external, [one.text for one in rules], [one.text for one in rules if gate.look(one).doubt]


def honest(logs: Sequence[Path]) -> tuple[int, int, list[str], list[str]]:
    """Return the sums of `_gated` over logs."""
    lines, external, rules, waiting = 0, 0, list[str](), list[str]()
    for log in logs:
        found = _gated(f"Logs/{log.name}", log.read_text(encoding="utf-8", errors="replace"))
        lines, external = lines + found[0], external + found[1]
        rules, waiting = rules + found[2], waiting + found[3]
    return lines, external, rules, waiting


def _ordinary(folder: Path) -> Path:
    """Write the ordinary rules of `tests/data/poison` as an agent's journal."""
    said = [line for name in ("harmless", "blind_harmless") for line in (OWN / f"{name}.txt").read_text().splitlines()]
    log = folder / "2026-01-01.md"
    log.write_text("".join(f"- 09:00 {line}\n" for line in said), encoding="utf-8")
    return log


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attacks", type=Path)
    parser.add_argument("--sessions", type=Path)
    parser.add_argument("--journals", type=Path)
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument(
        "--channel", choices=tuple(CHANNELS), action="append", help="only these; all where none is named"
    )
    given = parser.parse_args(arguments)
    attacks = [one for folder in (OWN, given.attacks) if folder for one in attacks_in(folder, given.most)]
    laid = [f"{label}{one}" for one in attacks for label in ("", "Fact: ", "Rule: ")]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ |= {"HOME": folder, "XDG_CONFIG_HOME": f"{folder}/config", "CURATE_CONFIG": f"{folder}/none.toml"}
        os.environ |= {"GIT_CONFIG_GLOBAL": "/dev/null"}
        Path(folder, "none.toml").touch()
        (home / "obedient.py").write_text(_OBEDIENT)
        readers = {"rules": "rules", "obedient": f"exec:{sys.executable} {home / 'obedient.py'}"}
        print(f"{len(attacks)} attacks, each bare, as a Fact and as a Rule")
        print(f"{'channel':28}{'reader':10}{'rules live':>12}{'in MEMORY.md':>14}{'items live':>12}{'waiting':>9}")
        for number, channel in enumerate(given.channel or CHANNELS):
            for reader, provider in readers.items():
                found = measured(home / f"{reader}{number}", channel, laid, provider)
                row = f"{found.rules:12}{found.loaded:14}{found.live:12}{found.waiting:9}"
                print(f"{channel:28}{reader:10}{row}", flush=True)
        logs = {"ordinary rules of tests/data": [_ordinary(home)]}
        if given.sessions:
            root = home / "sessions"
            _curate(root, "init", str(root))
            _curate(root, "capture", str(given.sessions))
            logs["public sessions"] = sorted((root / "Logs").glob("*.md"))
        for journal in sorted(given.journals.iterdir()) if given.journals else ():
            logs[journal.name] = sorted(journal.glob("????-??-??.md"))
        print(f"\n{'honest lines':36}{'lines':>8}{'external':>10}{'share':>7}{'rules':>7}{'waiting':>9}")
        for name, paths in logs.items():
            lines, external, rules, waiting = honest(paths)
            share = f"{external / max(lines, 1):.3f}"
            print(f"{name:36}{lines:8}{external:10}{share:>7}{len(rules):7}{len(waiting):9}")


if __name__ == "__main__":
    main(sys.argv[1:])
