"""Whether providers answer: the real clients against local servers that answer, refuse, hang, or are not there."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pipelines.extract import choose_models
from pipelines.extract.choose_models import probe
from pipelines.provider_settings import ProviderSettings
from pipelines.user_settings import UserSettings

LISTS = {
    "anthropic": {"data": [], "has_more": False, "first_id": None, "last_id": None},
    "gemini": {"models": []},
    "openai": {"object": "list", "data": []},
}


@contextmanager
def server(status: int, body: object, *, hangs: bool = False) -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            if hangs:
                over.wait(30)
                return
            said = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_address[1]}", asked
    finally:
        over.set()
        listening.shutdown()
        thread.join()
        listening.server_close()


def user(provider: str, url: str) -> UserSettings:
    settings = ProviderSettings("some-model", "test-key-of-nobody", url)
    return UserSettings((provider, "rules"), {provider: settings})


@pytest.mark.parametrize("provider", list(LISTS))
def test_a_provider_that_answers_is_reached(provider: str) -> None:
    with server(200, LISTS[provider]) as (url, asked):
        [told] = probe(user(provider, url))
    assert told == (provider, "")
    assert len(asked) == 1
    assert "models" in asked[0]


@pytest.mark.parametrize("provider", list(LISTS))
def test_a_provider_that_hangs_costs_seconds_and_no_more(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose_models, "SECONDS", 1.0)
    with server(200, {}, hangs=True) as (url, _):
        began = time.monotonic()
        [(_, why)] = probe(user(provider, url))
        assert time.monotonic() - began < 25
    assert why


def test_a_provider_that_is_not_there_is_said() -> None:
    assert probe(user("openai", "http://127.0.0.1:9")) == [("openai", "could not be reached, or the connection broke")]
