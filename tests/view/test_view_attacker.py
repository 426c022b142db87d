"""A hostile site in the same browser, in which the owner's page is open: it reads nothing and changes nothing."""

from __future__ import annotations

import http.server
import json
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.view.browsing import Browser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser as Chromium

    from tests.conftest import Memory

KNOWN = "The cellar of the mill floods in March."
READ = (
    "/",
    "/inbox",
    "/nights",
    "/document/Areas/general",
    "/document/MEMORY",
    "/items?q=cellar",
    "/agents",
    "/file/Logs/2026-03-17.md",
)
CHANGE = ("/do", "/edit/Areas/general", "/enter")
FIELDS = {"verb": "retract", "id": "ID", "text": "owned", "base": "", "code": "x", "token": "guessed", "back": "/"}
SCRIPT = Path(__file__).with_name("hostile.js").read_text(encoding="utf-8")


@contextmanager
def site(page: str) -> Iterator[int]:
    """Serve a page on every path of this machine, and give the port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_a_hostile_site_reads_and_changes_nothing(chromium: Chromium, memory: Memory) -> None:
    memory.day("2026-03-17", f"- Fact: {KNOWN}\n")
    ident = memory.json("items")[0]["id"]
    served = Browser(memory)
    port, before = served.host.partition(":")[2], (memory.git("rev-parse", "HEAD"), memory.files())
    count = 0
    with chromium.new_context() as context:
        context.set_default_timeout(120_000)
        own = context.new_page()
        own.goto(served.address)
        own.wait_for_url(f"http://{served.host}/")
        own.goto(f"http://{served.host}/item/{ident}")
        assert KNOWN in own.content()
        # Another port of the same address has the same site, so that cookies go with what it sends; a rebound name
        # leads to the very port, without them.
        for host in (served.host, f"localhost:{port}", f"rebound.example:{port}"):
            target = json.dumps([f"http://{host}", READ, CHANGE, FIELDS | {"id": ident}])
            page = f"<!DOCTYPE html><body><script>const [base, read, change, fields] = {target};\n{SCRIPT}</script>"
            with site(page) as attacker:
                hostile = context.new_page()
                hostile.goto(f"http://127.0.0.1:{attacker}/")
                hostile.wait_for_function("document.title.startsWith('{')")
                told = json.loads(hostile.title())
                hostile.close()
            assert not [one for one in told["found"] if one.startswith(("a socket", "loaded")) or "cellar" in one]
            count += told["tried"]
        for path in READ:  # the rebound name itself, as an address
            rebound = context.new_page()
            rebound.goto(f"http://rebound.example:{port}{path}")
            assert "cellar" not in rebound.content()
            rebound.close()
            count += 1
        own.reload()
        assert KNOWN in own.content()
    assert count >= 60
    assert (memory.git("rev-parse", "HEAD"), memory.files()) == before
