"""Measure how long a night of many pending days takes against a model that needs its time.

usage: python -m benchmarks.night [--days N] [--seconds S] [--concurrency C]

A local server speaks the Anthropic wire and takes S seconds for each reply; the real SDK asks it, in a `curate run` of
its own. Printed is the time of the stage `extract`, which holds all that waits for the model and the import of the SDK,
and the ideal: as many rounds of S seconds as C calls at once need for N days.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from datetime import date, timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FIRST = date(2026, 3, 1)
REPLY = {
    "id": "msg_01", "type": "message", "role": "assistant", "model": "claude-haiku-5-5",
    "content": [{"type": "text", "text": '{"items": []}'}], "stop_reason": "end_turn", "stop_sequence": None,
    "usage": {"input_tokens": 3000, "output_tokens": 20},
}  # fmt: skip


class Slow(BaseHTTPRequestHandler):
    """Answers every message with no items, after a while."""

    protocol_version = "HTTP/1.1"

    def __init__(self, seconds: float, *arguments: object) -> None:
        """Take the time of a reply."""
        self.seconds = seconds
        super().__init__(*arguments)  # type: ignore[arg-type]  # the server's own

    def do_POST(self) -> None:
        """Answer one call."""
        self.rfile.read(int(self.headers["content-length"]))
        time.sleep(self.seconds)
        content = json.dumps(REPLY).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Say nothing."""


def main() -> None:
    """Print the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--concurrency", type=int, default=4)
    asked = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Slow, asked.seconds))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        told = night(Path(folder), asked.days, asked.concurrency, server.server_port)
    ideal = math.ceil(asked.days / asked.concurrency) * asked.seconds
    took, calls = told["seconds"]["extract"], told["model"]["calls"]
    print(
        f"{asked.days} days, {asked.seconds:g} s a call, {asked.concurrency} at once: {calls} calls in "
        f"{took:.1f} s; ideal {ideal:.1f} s; measured / ideal {took / ideal:.2f}"
    )


def night(folder: Path, days: int, concurrency: int, port: int) -> dict[str, dict[str, float]]:
    """Return the report of a night with so many pending days."""
    config, memory = folder / "config.toml", folder / "memory"
    config.write_text(
        f'providers = ["anthropic"]\n[anthropic]\nbase_url = "http://127.0.0.1:{port}"\nconcurrency = {concurrency}\n'
    )
    environ = {**os.environ, "CURATE_CONFIG": str(config)}
    curate = [sys.executable, "-m", "pipelines.cli"]
    subprocess.run([*curate, "init", str(memory), "--now", FIRST.isoformat()], check=True, env=environ)
    for number in range(days):
        day = FIRST + timedelta(days=number)
        (memory / "Logs" / f"{day}.md").write_text(f"# {day}\n\n- 09:14 Built stage {number} of the harbour.\n")
    now = f"{FIRST + timedelta(days=days)}T03:00"
    run = [*curate, "run", "--json", "--memory", str(memory), "--now", now]
    told: dict[str, dict[str, float]] = json.loads(
        subprocess.run(run, check=True, env=environ, capture_output=True).stdout
    )
    return told


if __name__ == "__main__":
    main()
