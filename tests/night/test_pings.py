"""Pings: what a monitor hears of a run, and that none of its moods holds the night up."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pipelines.night import run_night
from pipelines.store.lock import run_lock
from tests.conftest import Memory

LOG = "- Decision: Use SQLite.\n"
UUID = "0b7d3f5e-secret"


class Monitor:
    def __init__(self, url: str) -> None:
        self.url, self.heard, self.status, self.hangs = url, list[str](), 200, False
        self.over = threading.Event()


@pytest.fixture
def monitor() -> Iterator[Monitor]:
    with _listening() as told:
        yield told


@contextmanager
def _listening() -> Iterator[Monitor]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.heard.append(self.path)
            if told.hangs:
                told.over.wait(30)
                return
            self.send_response(told.status)
            self.send_header("Content-Length", "0")
            self.send_header("Location", f"{told.url}/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    told = Monitor(f"http://127.0.0.1:{listening.server_address[1]}")
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield told
    finally:
        told.over.set()
        listening.shutdown()
        thread.join()
        listening.server_close()


@pytest.fixture
def pinging(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    memory.write("Logs/2026-03-18.md", LOG)

    def run(url: str, *more: str, exits: int = 0, head: str = "") -> dict[str, Any]:
        config = tmp_path / "config.toml"
        config.write_text(f'{head}\n[ping]\nurl = "{url}"\n')
        monkeypatch.setenv("CURATE_CONFIG", str(config))
        said = memory.curate("run", "--json", "--now", "2026-03-20T02:00", *more, exits=exits)
        told: dict[str, Any] = json.loads(said.splitlines()[0])
        return told

    return run


def test_a_good_night_is_heard_of_at_its_beginning_and_its_end(
    pinging: Callable[..., dict[str, Any]], monitor: Monitor
) -> None:
    told = pinging(f"{monitor.url}/ping/{UUID}?rid=7")
    assert monitor.heard == [f"/ping/{UUID}/start?rid=7", f"/ping/{UUID}?rid=7"]
    assert told["warnings"] == []
    pinging(f"{monitor.url}/x", "--dry-run")
    assert len(monitor.heard) == 2


def test_a_night_that_died_failed_and_one_that_found_another_at_work_did_not(
    memory: Memory, pinging: Callable[..., dict[str, Any]], monitor: Monitor
) -> None:
    pinging(f"{monitor.url}/{UUID}")
    monitor.heard.clear()
    with run_lock(memory.root, "the test"):
        memory.curate("run", exits=75)
    monitor.over.wait(0.05)
    assert f"/{UUID}/fail" not in monitor.heard
    memory.git("checkout", "-q", "--detach")
    memory.curate("run", exits=1)
    assert monitor.heard[-1] == f"/{UUID}/fail"


def test_a_monitor_that_hangs_holds_nothing_up(
    memory: Memory,
    pinging: Callable[..., dict[str, Any]],
    monitor: Monitor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_night, "PING_SECONDS", 0.2)
    monitor.hangs = True
    began = time.monotonic()
    told = pinging(f"{monitor.url}/{UUID}")
    assert time.monotonic() - began < 25
    assert told["warnings"] == [
        "The ping at the start of the run failed (no answer).",
        "The ping at the end of the run failed (no answer).",
    ]
    assert (told["exit_code"], told["items"]["added"]) == (0, 1)
    [kept] = (memory.root / ".curate/runs").glob("*.json")
    assert json.loads(kept.read_text())["warnings"] == told["warnings"]
    assert UUID not in kept.read_text()


@pytest.mark.parametrize(("status", "why"), [(500, "status 500"), (302, "status 302"), (404, "status 404")])
def test_a_monitor_that_complains_is_a_warning(
    pinging: Callable[..., dict[str, Any]], monitor: Monitor, status: int, why: str
) -> None:
    monitor.status = status
    told = pinging(f"{monitor.url}/{UUID}")
    assert [why in warning for warning in told["warnings"]] == [True, True]
    assert told["exit_code"] == 0
    assert "/elsewhere" not in monitor.heard


def test_a_monitor_that_is_not_there_is_a_warning(pinging: Callable[..., dict[str, Any]]) -> None:
    told = pinging(f"http://127.0.0.1:9/{UUID}")
    assert len(told["warnings"]) == 2
    assert all(warning.endswith("failed (no answer).") for warning in told["warnings"])
    assert UUID not in json.dumps(told)


@pytest.mark.parametrize("url", [f"ftp://x/{UUID}", f"/{UUID}", f"https:// x/{UUID}", "https://"])
def test_what_is_no_address_is_said_without_it(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    (tmp_path / "config.toml").write_text(f'[ping]\nurl = "{url}"\n')
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    said = memory.curate("run", exits=1)
    assert "ping.url: it should be an address" in said
    assert UUID not in said
