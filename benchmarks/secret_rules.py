"""Measure the rules for secrets: false alarms, planted ones that are missed, and speed.

usage: python -m benchmarks.secret_rules [DATA ...]      (make bench-secrets DATA="DIR ...")

DATA are files or folders of text that is known to hold no secret: for each, its lines, the alarms, and both per 10,000
lines. Then 2,000 secrets of 40 kinds, made up from a seed, stand in plain lines and in JSON within JSON; printed is how
many of them stay. Last, transcripts of tool results, prose and images are captured and redacted; printed is the speed.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.cli import run_cli
from pipelines.store.secrets import Redactor, find_secrets
from tests.planting import Planter

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLANTED = 2000
_MEGABYTES = 200


def main(arguments: list[str]) -> None:
    """Print the figures."""
    for name in arguments:
        lines, alarms = _alarms(Path(name))
        print(f"{name}: {lines:,} lines, {alarms} alarms, {10_000 * alarms / max(lines, 1):.2f} per 10,000 lines")
    print(f"{_PLANTED:,} planted secrets, {_missed()} missed")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "session.jsonl")
        file.write_bytes(b"".join(_records(random.Random(1))))
        size = file.stat().st_size / 1e6
        redactor = Redactor(b"a key of nobody's")
        with file.open("rb") as source:
            began = time.process_time()
            for line in source:
                redactor.redact_record(line)
            print(f"redacted: {size / (time.process_time() - began):.0f} MB a second of processor time")
        print(f"captured: {size / _capture(Path(folder, 'memory'), file):.0f} MB a second of processor time")


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


def _missed() -> int:
    redactor = Redactor(b"a key of nobody's")
    missed = 0
    for one in Planter(2026).plant(_PLANTED):
        plain = redactor.redact(one.text).text
        record = redactor.redact_record(json.dumps({"a": json.dumps({"b": one.text})}).encode()).decode()
        escaped = [json.dumps(json.dumps(part)[1:-1])[1:-1] for part in one.parts]
        missed += any(part in plain for part in one.parts) or any(part in record for part in escaped)
    return missed


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
    main(sys.argv[1:])
