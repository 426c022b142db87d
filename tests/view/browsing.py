"""A browser without a window: it is let in as the owner's is, and sends what a browser sends."""

import re
import socket
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from http.client import HTTPConnection
from urllib.parse import urlencode

import uvicorn

from pipelines.cli.serve_commands import run_verb
from pipelines.view.app import serve
from tests.conftest import SERVED, Memory

MORNING = datetime(2026, 3, 18, 8, tzinfo=UTC)
HOSTILE = (
    "<script>window.owned=1</script>", '<img src=x onerror="window.owned=1">', "[x](javascript:window.owned=1)",
    "![x](http://evil.example/p)", "<svg onload=window.owned=1>", "\u202eneddih", "<iframe src=//evil.example>",
    "{{ 7 * 7 }}", "[x](data:text/html,<b>)", "</textarea><script>window.owned=1</script>", "<b>bold</b>",
    "&lt;script&gt;", "`<script>`", "<a href='http://evil.example'>x</a>", '" autofocus onfocus=window.owned=1 x="',
)  # fmt: skip
"""What people put into texts to make a page run it, or show what it is not."""
FORM = "application/x-www-form-urlencoded"


class _Server(uvicorn.Server):
    def run(self, sockets: list[socket.socket] | None = None) -> None:
        SERVED.append(self)
        super().run(sockets)


uvicorn.Server = _Server  # type: ignore[misc]


class Browser:
    """A page that is served from a memory, and the browser that was started on it."""

    def __init__(self, memory: Memory, **how: float) -> None:
        ready = threading.Event()

        def opened(address: str) -> None:
            self.address = address
            ready.set()

        def act(words: list[str]) -> tuple[int, str]:
            return run_verb(memory.root, words)

        self.thread = threading.Thread(
            target=lambda: serve(memory.root, act, lambda: MORNING, opened, **how),  # type: ignore[arg-type]
            daemon=True,
        )
        self.thread.start()
        assert ready.wait(60)
        self.host, self.code = re.findall(r"http://(.+)/enter#(.+)", self.address)[0]
        self.cookie = ""

    def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: str = ""
    ) -> tuple[int, str, dict[str, str]]:
        """Send a request just so, and return its status, its text and its headers."""
        connection = HTTPConnection(self.host, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": self.host, "Content-Length": str(len(body)), **headers}.items():
            if value:
                connection.putheader(name, value)
        connection.endheaders(body.encode())
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text, {name.lower(): value for name, value in answer.getheaders()}

    def enter(self) -> "Browser":
        """Bring the code, as the page on which the browser is started does."""
        status, _, headers = self.ask("POST", "/enter", {"Origin": "null", "Content-Type": FORM}, f"code={self.code}")
        assert status == 303
        self.cookie = headers["set-cookie"].partition(";")[0]
        return self

    def get(self, path: str, status: int = 200) -> str:
        """Return a page."""
        found, text, _ = self.ask("GET", path, {"Cookie": self.cookie, "Sec-Fetch-Site": "same-origin"})
        assert found == status, text
        return text

    def post(self, path: str, **fields: str) -> str:
        """Send a form of the page, and return the page that it leads to."""
        status, text, told = self._posted(path, fields)
        assert status == 303, text
        return self.get(told["location"].removeprefix(f"http://{self.host}"))

    def answered(self, path: str, **fields: str) -> str:
        """Send a form of the page, and return the page that answers it at once."""
        status, text, _ = self._posted(path, fields)
        assert status == 200, text
        return text

    def _posted(self, path: str, fields: dict[str, str]) -> tuple[int, str, dict[str, str]]:
        back, origin = fields.pop("back", "/inbox"), f"http://{self.host}"
        token = re.findall(r'name="token" value="([^"]+)"', self.get(back))
        body = urlencode({"token": token[0] if token else "", **fields})
        headers = {"Cookie": self.cookie, "Sec-Fetch-Site": "same-origin", "Origin": origin, "Referer": origin + back}
        return self.ask("POST", path, {**headers, "Content-Type": FORM}, body)
