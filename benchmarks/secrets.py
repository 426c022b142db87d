"""Measure the rules for secrets: published cases of two scanners, planted ones, false alarms, and speed.

usage: python -m benchmarks.secrets [--gitleaks CLONE] [--trufflehog CLONE] [DATA ...]      (make bench-secrets …)

The clones are `git clone --depth 1 https://github.com/gitleaks/gitleaks` and the same of `trufflesecurity/trufflehog`.
Their cases are read where they are, and nothing of them is kept. Their rules are split by the hash of their names: ours
were written with one half in view. detect-secrets is asked about the same lines where it is installed.

DATA are files or folders of text without any secret: for each, its lines, the alarms, and the speed. Then 2,000
secrets of 40 kinds, made up from a seed, stand in plain lines and in JSON within JSON; printed is how many of them
stay. Last, transcripts of tool results, prose and images are captured and redacted; printed is the speed.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import io
import json
import random
import subprocess
import tempfile
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.published import half, read_gitleaks, read_trufflehog
from pipelines.cli import run_cli
from pipelines.store.secrets.find import find_secrets
from pipelines.store.secrets.known import KnownSecrets
from pipelines.store.secrets.redact import Redactor
from tests.planting import Planter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.published import Case, Corpus

_PLANTED = 2000
_MEGABYTES = 200
_ROUNDS = 5
_PROSE = "- 09:12 Ben gave me {} for the staging run, and it worked"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gitleaks", type=Path)
    parser.add_argument("--trufflehog", type=Path)
    parser.add_argument("data", nargs="*", type=Path)
    asked = parser.parse_args()
    if asked.gitleaks:
        corpus = read_gitleaks(asked.gitleaks)
        _table("gitleaks, seen", corpus, lambda case: half(case.rule) == 0)
        _table("gitleaks, unseen", corpus, lambda case: half(case.rule) == 1)
    if asked.trufflehog:
        corpus = read_trufflehog(asked.trufflehog)
        _table("trufflehog, seen", corpus, lambda case: half(case.rule) == 0)
        _table("trufflehog, unseen", corpus, lambda case: half(case.rule) == 1)
    for place in asked.data:
        lines, alarms = _alarms(place)
        print(f"{place}: {lines:,} lines, {alarms} alarms, {', '.join(_speeds(place))}")
    print(f"{_PLANTED:,} planted secrets, {_missed()} missed")
    _speed()


def _table(name: str, corpus: Corpus, wanted: Callable[[Case], bool]) -> None:
    positives, negatives, bare = (
        list(filter(wanted, one)) for one in (corpus.positives, corpus.negatives, corpus.bare)
    )
    prose = [type(one)(one.rule, _PROSE.format(one.text), one.secrets) for one in bare]
    rows = [("positives", positives), ("bare tokens in prose", prose), ("negatives alarmed", negatives)]
    asked: list[tuple[str, Callable[[Sequence[Case]], int]]] = [("each text alone", _alone), ("in git", _in_git)]
    if find_spec("detect_secrets"):
        asked.append(("detect-secrets", _detect_secrets))
    for kind, cases in rows:
        shown = [f"{who} {count / len(cases):.3f}" for who, ask in asked if cases for count in [ask(cases)]]
        print(f"{name}: {kind}, {len(cases):,}: {', '.join(shown)}")


def _is_gone(case: Case, text: str) -> bool:
    return any(secret not in text for secret in case.secrets)


def _alone(cases: Sequence[Case]) -> int:
    redactor = Redactor(lambda: b"a key of nobody's")
    return sum(
        _is_gone(case, redactor.redact(case.text).text) if case.secrets else bool(find_secrets(case.text.encode()))
        for case in cases
    )


def _in_git(cases: Sequence[Case]) -> int:
    """Return of how many cases git holds nothing, after a night over a log with all of them."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        root = Path(folder, "memory")
        run_cli(["init", str(root)])
        entries = "".join("- 09:00 " + case.text.strip("\n").replace("\n", "\n  ") + "\n\n" for case in cases)
        (root / "Logs/2026-03-18.md").write_text(f"# 2026-03-18\n\n{entries}", encoding="utf-8", errors="replace")
        run_cli(["run", "--memory", str(root), "--now", "2026-03-18T23:00"])
        shown = ["git", "-C", str(root), "show", "HEAD:Logs/2026-03-18.md"]
        log = subprocess.run(shown, check=True, capture_output=True).stdout.decode(errors="replace")
    if not cases[0].secrets:
        return sum("[redacted:" in entry for entry in log.split("\n- 09:00 "))
    return sum(_is_gone(case, log) for case in cases)


def _detect_secrets(cases: Sequence[Case]) -> int:
    """Return in how many cases it finds anything, each being a file of its own, as its defaults say."""
    collection = import_module("detect_secrets.core.secrets_collection").SecretsCollection
    default_settings = import_module("detect_secrets.settings").default_settings
    found = 0
    with tempfile.TemporaryDirectory() as folder, default_settings():
        file = Path(folder, "case.txt")
        for case in cases:
            file.write_text(case.text, encoding="utf-8", errors="replace")
            secrets = collection(root=folder)
            secrets.scan_file(file.name)
            found += bool(secrets.data)
    return found


def _alarms(place: Path) -> tuple[int, int]:
    files = [place] if place.is_file() else [path for path in sorted(place.rglob("*")) if path.is_file()]
    lines = alarms = 0
    for file in files:
        data = file.read_bytes()
        spans = find_secrets(data)
        lines, alarms = lines + data.count(b"\n"), alarms + len(spans)
        for span in spans:
            print(f"  {file}:{data.count(bytes([10]), 0, span.start) + 1}: {span.rule}")
    return lines, alarms


def _speeds(place: Path) -> Iterator[str]:
    """Yield how fast a folder's text is redacted where nothing is known, and where 30 values are."""
    texts = [file.read_bytes() for file in ([place] if place.is_file() else sorted(place.rglob("*"))) if file.is_file()]
    dice, size = random.Random(1), sum(map(len, texts)) / 1e6
    for count in (0, 30):
        with tempfile.TemporaryDirectory() as folder:
            known = KnownSecrets(Path(folder), lambda: b"a key of nobody's")
            known.learn([(base64.b64encode(dice.randbytes(24)), "password") for _ in range(count)])
            redactor = Redactor(known.key, known)
            redactor.redact_bytes(b"x" * 2000)
            took = []
            for _ in range(_ROUNDS):
                began = time.process_time()
                for text in texts:
                    redactor.redact_bytes(text)
                took.append(time.process_time() - began)
            yield f"{size / max(min(took), 1e-6):.0f} MB a second of processor time with {count} values"


def _missed() -> int:
    redactor = Redactor(lambda: b"a key of nobody's")
    missed = 0
    for one in Planter(2026).plant(_PLANTED):
        plain = redactor.redact(one.text).text
        record = redactor.redact_record(json.dumps({"a": json.dumps({"b": one.text})}).encode()).decode()
        escaped = [json.dumps(json.dumps(part)[1:-1])[1:-1] for part in one.parts]
        missed += any(part in plain for part in one.parts) or any(part in record for part in escaped)
    return missed


def _speed() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "session.jsonl")
        file.write_bytes(b"".join(_records(random.Random(1))))
        size = file.stat().st_size / 1e6
        redactor = Redactor(lambda: b"a key of nobody's")
        with file.open("rb") as source:
            began = time.process_time()
            for line in source:
                redactor.redact_record(line)
            print(f"redacted: {size / (time.process_time() - began):.0f} MB a second of processor time")
        print(f"captured: {size / _capture(Path(folder, 'memory'), file):.0f} MB a second of processor time")


def _records(dice: random.Random) -> Iterator[bytes]:
    """Yield the records of a session: mostly what tools gave back, code and prose, now and then an image."""
    code = [file.read_text() for file in sorted(Path("pipelines").rglob("*.py"))]
    size = number = 0
    while size < _MEGABYTES * 1e6:
        number += 1
        text = base64.b64encode(dice.randbytes(300_000)).decode() if number % 100 == 0 else dice.choice(code)
        record: dict[str, Any] = {
            "type": "user", "sessionId": "s1", "uuid": f"{dice.getrandbits(128):032x}", "cwd": "/home/ada/src/harbor",
            "timestamp": f"2026-03-18T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        }  # fmt: skip
        block = {"type": "tool_result", "tool_use_id": f"toolu_{dice.getrandbits(80):020x}", "content": text}
        record["message"] = {"role": "user", "content": "Go on." if number % 10 == 0 else [block]}
        line = json.dumps(record).encode() + b"\n"
        size += len(line)
        yield line


def _capture(root: Path, file: Path) -> float:
    """Return the processor's seconds that capturing a transcript takes."""
    with contextlib.redirect_stdout(io.StringIO()):
        run_cli(["init", str(root)])
        began = time.process_time()
        run_cli(["capture", str(file), "--memory", str(root), "--now", "2026-03-20T12:00"])
    return time.process_time() - began


if __name__ == "__main__":
    main()
