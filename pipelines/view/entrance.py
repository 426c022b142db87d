"""Access to the page: only the browser that the owner started, and no request from another page or program.

The server listens only on 127.0.0.1. The browser opens a file that only the owner can read; its form exchanges a
one-time code for a cookie, so no argument, address or log holds a token. A request needs the exact Host, the cookie and
no foreign origin; a change also needs a token. A browser sends a cookie to every port of 127.0.0.1, where another
user's server could catch it, so on Linux the connection must also belong to the owner.
"""

from __future__ import annotations

import hmac
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send


ENTER: Final = "/enter"
_OPEN: Final = frozenset({"/style.css", "/htmx.min.js", "/keys.js"})
"""Files that reveal nothing about the memory."""
_MOST_BYTES: Final = 8 << 20
_TABLE: Final = Path("/proc/net/tcp")
_UID: Final = 7
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self';"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_GO_ON: Final = (
    '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">'
    '<title>memcurate</title><p><a href="/">Go on to your memory</a></p>'
)


@dataclass(slots=True)
class Pass:
    """What opens the gate.

    Args:
        host: the only accepted value of the Host header.
        code: the one-time code; empty once it has been used.
        cookie: the value of the cookie, and `name` its name.
        form: the token in every form.
        name: the cookie's name, with the port, since each memory's page has its own.
    """

    host: str
    code: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    form: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def name(self) -> str:
        """The cookie's name."""
        return f"curate-{self.host.rpartition(':')[2]}"

    @property
    def origin(self) -> str:
        """The page's own origin."""
        return f"http://{self.host}"

    def entry_page(self) -> str:
        """Return the first page, which submits the code and moves on."""
        return (
            '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>memcurate</title>'
            f'<form method="post" action="{self.origin}{ENTER}"><input type="hidden" name="code" value="{self.code}">'
            "<button>Open your memory</button></form><script>document.forms[0].submit()</script>"
        )


class Gate:
    """Passes on requests from the owner's browser, and refuses all others.

    Args:
        app: the page.
        key: the secrets that a request must have.
        seen: called for each accepted request.
    """

    def __init__(self, app: ASGIApp, key: Pass, seen: Callable[[], None] = lambda: None) -> None:
        self._app, self._pass, self._seen = app, key, seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # WebSockets are not supported
            await send({"type": "websocket.close", "code": 1008})
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        headers = Headers(scope=scope)
        body = await _body(receive) if scope["method"] == "POST" else b""
        fault = (
            "The request is too long." if body is None else self._fault(scope["method"], scope["path"], headers, body)
        )
        if not is_own(scope.get("client"), scope.get("server")):
            fault = "Another user of this machine sent this request."
        if fault:
            text = f"{fault} Run `curate view` again and use the page that it opens.\n"
            await PlainTextResponse(text, 413 if body is None else 403)(scope, receive, with_headers)
        elif scope["path"] == ENTER:
            self._pass.code = ""
            answer = HTMLResponse(_GO_ON)
            answer.set_cookie(self._pass.name, self._pass.cookie, httponly=True, samesite="strict", path="/")
            await answer(scope, receive, with_headers)
        else:
            self._seen()

            async def again() -> Message:
                return {"type": "http.request", "body": body or b"", "more_body": False}

            await self._app(scope, again, with_headers)

    def _fault(self, method: str, path: str, headers: Headers, body: bytes | None) -> str:
        """Return why a request is refused, or an empty string."""
        if headers.getlist("host") != [self._pass.host]:
            return "This is not the address of the page."
        if method not in {"GET", "HEAD", "POST"}:
            return "This method is not supported."
        if path in _OPEN:
            return ""
        form = parse_qs((body or b"").decode(errors="replace"))
        if path == ENTER:
            code = (form.get("code") or [""])[0]
            is_right = method == "POST" and self._pass.code and _same(code, self._pass.code)
            return "" if is_right else "The code is wrong or has been used."
        return self._fault_inside(method, headers, (form.get("token") or [""])[0])

    def _fault_inside(self, method: str, headers: Headers, token: str) -> str:
        """Return why a request after the entrance is refused, or an empty string."""
        key = self._pass
        if not any(_same(one, key.cookie) for one in _cookies(headers, key.name)):
            return "This browser has no access."
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site not in {None, "same-origin", "none"} or origin not in {None, key.origin}:
            return "Another site sent this request."
        is_form = site == "same-origin" and origin == key.origin and _same(token, key.form)
        return "" if method != "POST" or is_form else "This request did not come from a form on this page."


def is_own(client: tuple[str, int] | None, server: tuple[str, int | None] | None, table: Path = _TABLE) -> bool:
    """Return whether the serving user opened a connection over 127.0.0.1; true if there is no table to tell.

    Args:
        client: its address and port.
        server: the same for this end.
        table: the kernel's list of connections, see proc_net_tcp(5): `local_address`, `rem_address`, …, `uid`.
    """
    if not (client and server and server[1] and table.exists()):
        return True
    ends = tuple(f"0100007F:{port:04X}" for port in (client[1], server[1]))
    rows = (line.split() for line in table.read_text("ascii").splitlines()[1:])
    return any(tuple(row[1:3]) == ends and int(row[_UID]) == os.getuid() for row in rows)


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _cookies(headers: Headers, name: str) -> list[str]:
    pairs = (part.strip().partition("=") for line in headers.getlist("cookie") for part in line.split(";"))
    return [value for key, _, value in pairs if key == name]


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request, or None if it is larger than any form."""
    data = b""
    while True:
        message = await receive()
        data += bytes(message.get("body", b""))
        if len(data) > _MOST_BYTES:
            return None
        if not message.get("more_body"):
            return data
