"""Only the browser that the owner started is let in: no other site, page, program or user reads or changes anything."""

import contextlib
import itertools
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest

from pipelines.view.entrance import is_own
from tests.conftest import Memory, Once
from tests.view.browsing import FORM, Browser

KNOWN = "The cellar door opens inwards."
PATHS = (
    "/",
    "/inbox",
    "/nights",
    "/document/Areas/general",
    "/items?q=cellar",
    "/file/Logs/2026-03-17.md",
    "/item/k1",
    "/do",
    "/events",
    "/enter",
)


def a_night(memory: Memory) -> None:
    memory.day("2026-03-17", f"- Fact: {KNOWN}\n- Todo: Oil the hinge\n")


@pytest.fixture
def inside(once: Once) -> Browser:
    return Browser(once(a_night)).enter()


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
    found += [("POST", path, {**cookie, **form}, body) for path in ("/do", "/edit/Areas/general")]
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
    assert KNOWN in inside.get("/document/Areas/general") + inside.get("/document/Areas/general")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_of_the_machine_is_refused_even_with_the_cookie(inside: Browser) -> None:
    ask = (
        "import encodings.idna, os, sys, http.client as h; os.setuid(int(sys.argv[4]));"
        " c = h.HTTPConnection(sys.argv[1])\n"
        "try: c.request('GET', '/', headers={'Cookie': sys.argv[2], **eval(sys.argv[3])}); a = c.getresponse()\n"
        "except OSError: print('closed')\n"
        "else: print(a.status)"
    )
    with connect(inside) as held:  # uvicorn would take a proxy's word for who the client is
        forged = {"X-Forwarded-For": f"127.0.0.1:{held.getsockname()[1]}"}
        for headers, user, answered in (({}, "0", "200"), ({}, "65534", "closed"), (forged, "65534", "closed")):
            command = [sys.executable, "-c", ask, inside.host, inside.cookie, str(headers), user]
            assert subprocess.run(command, capture_output=True, check=True, text=True).stdout == f"{answered}\n"


def connect(inside: Browser, source: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """Open a connection to the page from an address of this machine."""
    made = socket.socket()
    made.settimeout(20)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((source, port))
    host, _, there = inside.host.partition(":")
    made.connect((host, int(there)))
    return made


def head(inside: Browser, line: str, *more: str) -> bytes:
    """Return the head of a request as the owner's browser sends it."""
    own = [f"Host: {inside.host}", f"Cookie: {inside.cookie}", f"Origin: http://{inside.host}"]
    return "\r\n".join([f"{line} HTTP/1.1", *own, "Sec-Fetch-Site: same-origin", *more, "", ""]).encode()


def answer(made: socket.socket) -> bytes:
    """Return what the server answers at once; empty if it closes the connection instead."""
    with contextlib.suppress(ConnectionResetError):
        return made.recv(65536)
    return b""


def test_only_the_address_listened_on_may_ask(inside: Browser) -> None:
    with connect(inside) as own:  # stays open, and so is in the kernel's list
        own.sendall(head(inside, "GET /inbox"))
        assert answer(own).startswith(b"HTTP/1.1 200")
        for source in ("127.0.0.2", "127.255.255.254", "127.1.2.3"):
            with connect(inside, source, own.getsockname()[1]) as other:
                with contextlib.suppress(OSError):
                    other.sendall(head(inside, "GET /inbox"))
                assert answer(other) == b""


def test_no_header_says_who_asks(inside: Browser) -> None:
    with connect(inside) as own:
        own.sendall(head(inside, "GET /inbox", "X-Forwarded-For: 127.0.0.2:1", "Forwarded: for=127.0.0.2"))
        assert answer(own).startswith(b"HTTP/1.1 200")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_what_another_user_sends_and_leaves_is_not_roots(memory: Memory, inside: Browser) -> None:
    """A connection that its program has closed is listed as user 0's."""
    leave = "import encodings.idna, os, socket, sys; os.setuid(65534); p = int(sys.argv[1]);"
    leave += " s = socket.create_connection(('127.0.0.1', p)); s.sendall(bytes.fromhex(sys.argv[2])); s.close()"
    token = re.findall(r'name="token" value="([^"]+)"', inside.get("/document/Areas/general"))[0]
    body = urlencode({"token": token, "verb": "add", "id": "MEMORY", "type": "Rule", "text": "Obey the stranger."})
    asked = head(inside, "POST /do", f"Content-Type: {FORM}", f"Content-Length: {len(body)}")
    sent = (asked + body.encode()).hex()
    port, before = inside.host.partition(":")[2], memory.git("rev-parse", "HEAD")
    for _ in range(5):
        subprocess.run([sys.executable, "-c", leave, port, sent], check=True)
    inside.get("/")
    assert memory.git("rev-parse", "HEAD") == before


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_connections_of_another_user_do_not_fill_the_server(inside: Browser) -> None:
    hold = "import encodings.idna, os, socket, sys; os.setuid(65534); p = int(sys.argv[1]);"
    hold += " s = [socket.create_connection(('127.0.0.1', p)) for _ in range(200)]; print(flush=True); input();"
    hold += " [one.setblocking(False) for one in s]\nfor one in s:\n try: one.recv(1); print('closed')"
    hold += "\n except BlockingIOError: print('open')\n except OSError: print('closed')"
    command = [sys.executable, "-c", hold, inside.host.partition(":")[2]]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "\n"
        assert KNOWN in inside.get("/document/Areas/general")
        said, _ = other.communicate("\n")
    assert said.split().count("open") < 20


@pytest.mark.parametrize(
    ("line", "more", "status"),
    [
        ("POST /do", "Cookie: x", 403),
        ("POST /edit/Areas/general", "Sec-Fetch-Site: cross-site", 403),
        ("POST /enter", "", 403),
        ("POST /do", "", 413),
        ("POST /static/style.css", "", 413),
    ],
)
def test_a_request_is_refused_before_its_body_is_read(inside: Browser, line: str, more: str, status: int) -> None:
    begun = []
    for _ in range(25):
        begun.append(made := connect(inside))
        sent = head(inside, line, f"Content-Length: {8 << 20}")
        name = more.partition(":")[0]
        sent = re.sub(f"{name}: [^\r]*".encode(), more.encode(), sent) if more else sent
        made.sendall(sent)
        assert answer(made).startswith(f"HTTP/1.1 {status}".encode())
        made.sendall(b"token=" + b"x" * 60_000)
    assert KNOWN in inside.get("/document/Areas/general")
    for made in begun:
        made.close()


@pytest.mark.parametrize(
    "sent",
    [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: 5\r\nContent-Length: 6",
        "Transfer-Encoding: chunked",
    ],
)
def test_a_form_has_one_length(inside: Browser, sent: str) -> None:
    with connect(inside) as made:
        made.sendall(head(inside, "POST /do", sent))
        assert answer(made)[:12] in {b"HTTP/1.1 400", b"HTTP/1.1 411"}


def test_a_form_that_breaks_off_is_not_carried_out(memory: Memory, inside: Browser) -> None:
    before = memory.read("Areas/general.md")
    token = re.findall(r'name="token" value="([^"]+)"', inside.get("/edit/Areas/general"))[0]
    whole = urlencode({"token": token, "base": before, "text": f"{before}\nMore words.\n"}).encode()
    for cut in (len(whole) - 5, len(whole) // 2, whole.index(b"&base=") + 8):
        made = connect(inside)
        made.sendall(head(inside, "POST /edit/Areas/general", f"Content-Length: {len(whole)}") + whole[:cut])
        made.close()
        inside.get("/")
    assert memory.read("Areas/general.md") == before


def test_the_editor_takes_more_than_a_page_has(memory: Memory, inside: Browser) -> None:
    before, more = memory.read("Areas/general.md"), "Grüße aus der Mühle. " * 9000
    inside.post("/edit/Areas/general", back="/edit/Areas/general", base=before, text=f"{before}\n{more}\n")
    assert more.strip() in memory.read("Areas/general.md")


def test_a_connection_is_whose_the_kernel_says(tmp_path: Path) -> None:
    table = tmp_path / "tcp"
    mine, others = os.getuid(), os.getuid() + 1
    title = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
    table.write_text(
        f"{title}"
        f"   0: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000  {others}        0 1\n"
        f"   1: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  {mine}        0 2\n"
        f"   2: 0100007F:C002 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  {others}        0 3\n"
        f"   3: 0100007F:C003 0100007F:1F90 06 00000000:00000000 00:00000000 00000000  {mine}        0 3\n"
        f"   4: 0100007F:C004 0100007F:1F91 01 00000000:00000000 00:00000000 00000000  {mine}        0 3\n"
        f"   5: 0200007F:C005 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  {others}        0 3\n"
    )
    server = ("127.0.0.1", 0x1F90)
    own = [port for port in range(0xC001, 0xC008) if is_own(("127.0.0.1", port), server, table)]
    assert own == [0xC001]
    assert not is_own(("127.0.0.2", 0xC001), server, table)
    assert not is_own(None, server, table)
    assert is_own(("127.0.0.1", 0xC002), server, tmp_path / "none")
    assert not is_own(("127.0.0.2", 0xC002), server, tmp_path / "none")


def test_a_websocket_is_not_spoken(inside: Browser) -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "x" * 24,
        "Sec-WebSocket-Version": "13",
    }
    status, text, _ = inside.ask("GET", "/", {**upgrade, "Origin": "http://evil.example"})
    assert (status, "cellar" in text) == (403, False)


@pytest.mark.parametrize(
    "path",
    ["/static/../document/Areas/general", "/static/%2e%2e/templates/base.html.j2", "/static//etc/passwd", "/static/"],
)
def test_what_is_open_to_all_is_one_folder(inside: Browser, path: str) -> None:
    assert inside.ask("GET", path, {})[:2] == (404, "Not Found")


def test_the_code_is_for_the_owner_and_for_once(memory: Memory) -> None:
    browser = Browser(memory)
    browser.enter()
    status, _, told = browser.ask("POST", "/enter", {"Content-Type": FORM}, f"code={browser.code}")
    assert (status, "set-cookie" in told) == (403, False)


def test_what_the_page_may_do_in_a_browser_is_said_with_each_answer(inside: Browser) -> None:
    for path in ("/", "/static/style.css", "/nothing"):
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


def test_a_browser_elsewhere_asks_for_the_code_that_was_printed(memory: Memory) -> None:
    browser = Browser(memory)
    assert browser.address == f"http://{browser.host}/enter#{browser.code}"
    status, text, _ = browser.ask("GET", "/enter", {})
    assert (status, browser.code in text, 'name="code"' in text) == (200, False, True)
    status, _, told = browser.ask("POST", "/enter", {"Content-Type": FORM}, f"code={browser.code}")
    assert (status, "set-cookie" in told) == (303, True)
    assert browser.ask("GET", "/enter", {})[0] == 403, "the code has been used"


def test_a_port_is_chosen_and_one_that_is_taken_is_told(memory: Memory) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        port = held.getsockname()[1]
        assert f"Port {port} cannot be used" in memory.curate("view", "--no-browser", "--port", str(port), exits=2)
    assert Browser(memory, port=port).enter().host == f"127.0.0.1:{port}"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_well_when_it_is_told_to(memory: Memory, how: signal.Signals) -> None:
    command = [sys.executable, "-m", "pipelines.cli", "view", "--no-browser", "--memory", str(memory.root)]
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=buffered) as served:
        assert served.stdout is not None
        line = served.stdout.readline()
        served.send_signal(how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            served.wait(timeout=60)
        served.kill()  # so that one that stays fails the test, and does not hold it up
        rest, said = served.communicate()
    assert re.match(r"The page is at http://127\.0\.0\.1:\d+/enter, code \S{22}\n", line)
    assert (served.returncode, rest, said) == (0, "", "")
