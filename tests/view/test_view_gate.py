"""Only the browser that the owner started is let in: no other site, page, program or user reads or changes anything."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipelines.view.entrance import is_own
from tests.view.browsing import FORM, Browser

if TYPE_CHECKING:
    from tests.conftest import Memory

KNOWN = "The cellar door opens inwards."
PATHS = (
    "/",
    "/inbox",
    "/documents",
    "/document/Areas/general",
    "/search?q=cellar",
    "/item/k1",
    "/do",
    "/answer",
    "/enter",
)


@pytest.fixture
def inside(memory: Memory) -> Browser:
    memory.write("Logs/2026-03-17.md", f"- Fact: {KNOWN}\n- Todo: Oil the hinge\n")
    memory.curate("run", "--now", "2026-03-18T02:00")
    return Browser(memory).enter()


def attacks(inside: Browser) -> list[tuple[str, str, dict[str, str], str]]:
    """Return what others could send: method, path, headers, body."""
    here, cookie = f"http://{inside.host}", {"Cookie": inside.cookie}
    port = inside.host.rpartition(":")[2]
    hosts = (
        "evil.example",
        f"evil.example:{port}",
        f"localhost:{port}",
        "127.0.0.1",
        f"127.0.0.1.evil.example:{port}",
        f"[::1]:{port}",
    )
    foreign = ("http://evil.example", "null", f"http://localhost:{port}", "https://127.0.0.1", here.replace(port, "1"))
    form = {"Content-Type": FORM}
    body = "verb=retract&id=k1&token=guessed"
    found = [("GET", path, {"Cookie": given}, "") for path in PATHS for given in ("", "curate-1=x", f"curate-{port}=")]
    found += [("GET", path, {**cookie, "Host": host}, "") for host, path in itertools.product(hosts, PATHS[:3])]
    found += [("GET", "/", {**cookie, "Sec-Fetch-Site": site}, "") for site in ("cross-site", "same-site", "x")]
    found += [("GET", "/", {**cookie, "Origin": origin}, "") for origin in foreign]
    found += [
        ("POST", "/do", {**cookie, **form, "Origin": origin, "Sec-Fetch-Site": "cross-site"}, body)
        for origin in foreign
    ]
    found += [
        ("POST", "/do", {**cookie, **form, "Origin": here, "Sec-Fetch-Site": site}, body)
        for site in ("same-origin", "", "none")
    ]
    found += [("POST", path, {**cookie, **form}, body) for path in ("/do", "/answer")]
    found += [
        ("POST", "/enter", {**form, "Origin": "null"}, f"code={code}") for code in (inside.code, "", "x", "%00", "é")
    ]
    found += [(method, "/", cookie, "") for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE")]
    return found


def test_nothing_that_others_send_reads_or_changes_anything(memory: Memory, inside: Browser) -> None:
    before, head = memory.files(), memory.git("rev-parse", "HEAD")
    tried = attacks(inside)
    assert len(tried) >= 60
    for method, path, headers, body in tried:
        status, text, told = inside.ask(method, path, headers, body)
        assert (status, "cellar" in text, "access-control-allow-origin" in told) == (403, False, False), (
            method,
            path,
            headers,
        )
        assert "set-cookie" not in told
    assert (memory.files(), memory.git("rev-parse", "HEAD")) == (before, head)
    assert KNOWN in inside.get("/document/Areas/general") + inside.get("/document/MEMORY")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_of_the_machine_is_refused_even_with_the_cookie(inside: Browser) -> None:
    ask = (
        "import encodings.idna, os, sys, http.client as h; os.setuid(int(sys.argv[3]));"
        " c = h.HTTPConnection(sys.argv[1]);"
        " c.request('GET', '/', headers={'Cookie': sys.argv[2]}); a = c.getresponse(); print(a.status, a.read())"
    )
    command = [sys.executable, "-c", ask, inside.host, inside.cookie]
    own, other = (
        subprocess.run([*command, user], capture_output=True, check=True, text=True).stdout for user in ("0", "65534")
    )
    assert own.startswith("200")
    assert other.startswith("403 b'Another user of this machine sent this request.")


def test_a_connection_is_whose_the_kernel_says(tmp_path: Path) -> None:
    table = tmp_path / "tcp"
    mine, others = os.getuid(), os.getuid() + 1
    table.write_text(
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
        f"   0: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000  {others}        0 1\n"
        f"   1: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  {mine}        0 2\n"
        f"   2: 0100007F:C002 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  {others}        0 3\n"
    )
    server = ("127.0.0.1", 0x1F90)
    assert is_own(("127.0.0.1", 0xC001), server, table)
    assert not is_own(("127.0.0.1", 0xC002), server, table)
    assert not is_own(("127.0.0.1", 0xC003), server, table)
    assert is_own(("127.0.0.1", 0xC002), server, tmp_path / "none")


def test_a_websocket_is_not_spoken(inside: Browser) -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "x" * 24,
        "Sec-WebSocket-Version": "13",
    }
    status, text, _ = inside.ask("GET", "/", {**upgrade, "Origin": "http://evil.example"})
    assert (status, "cellar" in text) == (403, False)


def test_the_code_is_for_the_owner_and_for_once(memory: Memory) -> None:
    browser = Browser(memory)
    assert browser.mode == 0o600
    assert browser.file.parent.stat().st_mode & 0o777 == 0o700
    browser.enter()
    status, _, told = browser.ask("POST", "/enter", {"Content-Type": FORM}, f"code={browser.code}")
    assert (status, "set-cookie" in told) == (403, False)


def test_what_the_page_may_do_in_a_browser_is_said_with_each_answer(inside: Browser) -> None:
    for path in ("/", "/style.css", "/nothing"):
        _, _, told = inside.ask("GET", path, {"Cookie": inside.cookie})
        assert "default-src 'none'" in told["content-security-policy"]
        assert "script-src 'self';" in told["content-security-policy"]
        assert (told["x-frame-options"], told["cache-control"]) == ("DENY", "no-store")
        assert "server" not in told
    _, _, told = inside.ask("POST", "/enter", {"Content-Type": FORM}, "code=x")
    assert "set-cookie" not in told


def test_the_cookie_is_for_this_page_alone(memory: Memory) -> None:
    browser = Browser(memory)
    _, text, told = browser.ask("POST", "/enter", {"Content-Type": FORM}, f"code={browser.code}")
    assert browser.code not in text
    cookie = told["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "domain" not in cookie


def test_it_ends_when_it_is_left_alone(memory: Memory) -> None:
    browser = Browser(memory, idle=0.2)
    browser.thread.join(20)
    assert not browser.thread.is_alive()
    assert not browser.file.exists()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_well_when_it_is_told_to(memory: Memory, how: signal.Signals) -> None:
    command = [sys.executable, "-m", "pipelines.cli", "view", "--no-browser", "--memory", str(memory.root)]
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=buffered) as served:
        assert served.stdout is not None
        line = served.stdout.readline()
        served.send_signal(how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            served.wait(timeout=20)
        served.kill()  # so that one that stays fails the test, and does not hold it up
        rest, said = served.communicate()
    assert line.startswith("The page is open at file://")
    assert (served.returncode, rest, said) == (0, "", "")
    assert not Path(line.split("file://")[1].split(".html")[0] + ".html").exists()
