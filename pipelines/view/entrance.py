"""Who may see the page: the browser that the owner started, and nothing that another page or program sends.

The server listens on 127.0.0.1 alone. The browser is started on a file that only the owner can read; the form in it
exchanges a one-time code for a cookie, so no token is in an argument, an address or a log. A request needs the exact
Host, the cookie, and no other site as its origin; a change needs a form's token, too. A browser sends a cookie to every
port of 127.0.0.1, where another user's server could catch it; so on Linux a connection must be the owner's own.
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
"""What says nothing of the memory."""
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
        host: the one value of the Host header that is answered.
        code: what the browser brings once; empty when it was used.
        cookie: the value of the cookie, and `name` its name.
        form: the token that every form carries.
        name: the cookie's name: another memory's page on this machine has another port, and another name.
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
        """Return the page that the browser is started on: it brings the code and goes away."""
        return (
            '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>memcurate</title>'
            f'<form method="post" action="{self.origin}{ENTER}"><input type="hidden" name="code" value="{self.code}">'
            "<button>Open your memory</button></form><script>document.forms[0].submit()</script>"
        )


class Gate:
    """Lets through what comes from the owner's browser; all else is refused before the page sees it.

    Args:
        app: the page.
        key: what opens the gate.
        seen: called at each request that is let through.
    """

    def __init__(self, app: ASGIApp, key: Pass, seen: Callable[[], None] = lambda: None) -> None:
        self._app, self._pass, self._seen = app, key, seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no WebSocket is spoken
            await send({"type": "websocket.close", "code": 1008})
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        headers = Headers(scope=scope)
        body = await _body(receive) if scope["method"] == "POST" else b""
        fault = "It is too long." if body is None else self._fault(scope["method"], scope["path"], headers, body)
        if not is_own(scope.get("client"), scope.get("server")):
            fault = "Another user of this machine sent this."
        if fault:
            text = f"{fault} Run `curate view` again, and open what it starts.\n"
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
        """Return why a request is refused, or nothing."""
        if headers.getlist("host") != [self._pass.host]:
            return "This is not the address of the page."
        if method not in {"GET", "HEAD", "POST"}:
            return "Nothing is done this way."
        if path in _OPEN:
            return ""
        form = parse_qs((body or b"").decode(errors="replace"))
        if path == ENTER:
            code = (form.get("code") or [""])[0]
            is_right = method == "POST" and self._pass.code and _same(code, self._pass.code)
            return "" if is_right else "The code was used, or is not the right one."
        return self._fault_inside(method, headers, (form.get("token") or [""])[0])

    def _fault_inside(self, method: str, headers: Headers, token: str) -> str:
        """Return why a request behind the entrance is refused, or nothing."""
        key = self._pass
        if not any(_same(one, key.cookie) for one in _cookies(headers, key.name)):
            return "This browser was not let in."
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site not in {None, "same-origin", "none"} or origin not in {None, key.origin}:
            return "Another site sent this."
        is_form = site == "same-origin" and origin == key.origin and _same(token, key.form)
        return "" if method != "POST" or is_form else "No form of this page sent this."


def is_own(client: tuple[str, int] | None, server: tuple[str, int | None] | None, table: Path = _TABLE) -> bool:
    """Return whether a connection over 127.0.0.1 was opened by the user who serves; true where no table tells.

    Args:
        client: its address and port.
        server: the same of this end.
        table: the kernel's list of connections, as proc_net_tcp(5) has it: `local_address`, `rem_address`, …, `uid`.
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
    """Return what was sent, or None where it is more than any form holds."""
    data = b""
    while True:
        message = await receive()
        data += bytes(message.get("body", b""))
        if len(data) > _MOST_BYTES:
            return None
        if not message.get("more_body"):
            return data
