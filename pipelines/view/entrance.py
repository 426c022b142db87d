"""Access to the page: only the browser that the owner started, and no request from another page or program.

The server listens only on 127.0.0.1. A form exchanges a one-time code for a cookie. The terminal shows the code; where
the kernel tells whose a connection is, the browser gets it behind the # of the address. A request needs the exact Host,
the cookie and no foreign origin; a change also needs a token. A browser sends a cookie to every port of 127.0.0.1,
where another user's server could catch it, so on Linux a connection must also belong to the owner, or nothing is read
from it. All else is checked before a form is read.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    Address = tuple[str, int | None]


ENTER: Final = "/enter"
STATIC: Final = "/static/"
"""Files that reveal nothing about the memory."""
_BYTES, _EDIT_BYTES = 64 << 10, 49 << 20
"""How long a form may be; that of the editor holds a document of up to 8 MB twice, a byte as up to three."""
_TABLE = Path("/proc/net/tcp")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self';"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_ASK = (
    '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    '<title>memcurate</title><link rel="stylesheet" href="/static/style.css"><script src="/static/page.js" defer>'
    '</script><main><h1>Your memory</h1><form method="post" action="/enter"><label>The code that curate view printed '
    '<input name="code" required autofocus autocomplete="off"></label> <button>Open</button></form></main>'
)
_WRONG_CODE = "The code is wrong or has been used."
_NO_FORM = "This request did not come from a form on this page."


class Gate:
    """Passes on requests from the owner's browser, and refuses all others.

    Args:
        app: the page.
        host: the only accepted value of the Host header.
        token: what every form carries.
    """

    def __init__(self, app: ASGIApp, host: str, token: str) -> None:
        self._app, self._host, self._token, self._origin = app, host, token, f"http://{host}"
        self.code, self._cookie = secrets.token_urlsafe(16), secrets.token_urlsafe(32)
        self._name = f"curate-{host.rpartition(':')[2]}"  # each memory's page has a port, and so a cookie of its own
        self.seen = time.monotonic()
        """When the owner's browser last asked."""

    @property
    def address(self) -> str:
        """What lets a browser in, once."""
        return f"{self._origin}{ENTER}#{self.code}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        status, fault = self._fault(scope)
        form = form_of(b"")
        if not fault and scope["method"] == "POST":
            try:
                form = form_of(await Request(scope, receive).body())
            except ClientDisconnect:
                return
            status, secret, given, fault = 403, self._token, form["token"], _NO_FORM
            if scope["path"] == ENTER:
                secret, given, fault = self.code, form["code"], _WRONG_CODE
            if secret and _same(given, secret):
                fault = ""
        if fault:
            text = f"{fault} Run `curate view` again and use the page that it opens.\n"
            await PlainTextResponse(text, status)(scope, receive, with_headers)
        elif scope["path"] == ENTER:
            answer: Response = HTMLResponse(_ASK)
            if scope["method"] == "POST":  # with the code
                self.code, answer = "", RedirectResponse("/", 303)
                answer.set_cookie(self._name, self._cookie, httponly=True, samesite="strict", path="/")
            await answer(scope, receive, with_headers)
        else:
            self.seen = time.monotonic()
            scope["form"] = form
            await self._app(scope, receive, with_headers)

    def _fault(self, scope: Scope) -> tuple[int, str]:
        """Return why a request is refused before its form is read, with the status; empty if it is not."""
        method, path, headers = scope["method"], scope["path"], Headers(scope=scope)
        site, origin, length = (headers.get(name) for name in ("sec-fetch-site", "origin", "content-length"))
        is_post = method == "POST"
        is_inside = path != ENTER and (is_post or not path.startswith(STATIC))
        cookie = Request(scope).cookies.get(self._name, "")
        faults = {
            "This is not the address of the page.": headers.getlist("host") != [self._host],
            "This method is not supported.": method not in {"GET", "HEAD", "POST"},
            _WRONG_CODE: path == ENTER and not self.code,
            "This browser has no access.": is_inside and not _same(cookie, self._cookie),
            "Another site sent this request.": is_inside
            and (site not in {None, "same-origin", "none"} or origin not in {None, self._origin}),
            _NO_FORM: is_inside and is_post and (site, origin) != ("same-origin", self._origin),
        }
        if fault := next((fault for fault, is_so in faults.items() if is_so), ""):
            return 403, fault
        if is_post and ("transfer-encoding" in headers or not length):
            return 411, "The request does not say how long it is."
        if is_post and int(length or 0) > (_EDIT_BYTES if path.startswith("/edit/") else _BYTES):
            return 413, "The request is too long."
        return 200, ""


class OwnConnection(H11Protocol):
    """A connection of the serving user; another user's is closed before anything is read from it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to read, or close it."""
        super().connection_made(transport)
        if not is_own(self.client, self.server):
            transport.abort()


def is_own(client: Address | None, server: Address | None, table: Path = _TABLE) -> bool:
    """Return whether the serving user holds the other end of a connection; true if there is no table to tell.

    Only an end at the address that is listened on counts, though all of 127.0.0.0/8 leads here.

    Args:
        client: its address and port.
        server: the same for this end.
        table: the kernel's list of connections, see proc_net_tcp(5): `local_address`, `rem_address`, `st`, …, `uid`.
    """
    if not (client and server and client[0] == server[0]):
        return False
    if not table.exists():
        return True
    ends = [
        f"{int.from_bytes(socket.inet_aton(host), sys.byteorder):08X}:{port:04X}" for host, port in (client, server)
    ]
    rows = (line.split() for line in table.read_text("ascii").splitlines()[1:])
    # Established, 01, is the one state that tells whose it is: once its program closed it, the table says user 0.
    return any(row[1:4] == [*ends, "01"] and int(row[7]) == os.getuid() for row in rows)


def form_of(body: bytes) -> defaultdict[str, str]:
    """Return a form's fields; what is there several times stands in one line, and what is not there is empty."""
    found = parse_qs(body.decode(errors="replace"), keep_blank_values=True)
    return defaultdict(str, {key: " ".join(values) for key, values in found.items()})


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
