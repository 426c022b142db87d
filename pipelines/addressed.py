"""Requests to an address that a user named: they go there and nowhere else."""

from __future__ import annotations

import urllib.request
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from http.client import HTTPMessage

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def opened(request: urllib.request.Request, seconds: float) -> Any:  # noqa: ANN401  an HTTPResponse, as urllib has it
    """Return the answer to a request, to be closed by who asked for it.

    A redirect is no answer but a refusal, with its status: where it leads, nobody named, and that address would get
    what is sent, keys included. A proxy of the environment's is passed by for what runs on this machine: it would look
    for that on its own.

    Args:
        request: to an `http` or `https` address.
        seconds: how long each step of it may take.

    Raises:
        urllib.error.HTTPError: the answer refuses; it is to be closed, too.
        OSError: there is no answer.
        http.client.HTTPException: what came is none.
    """
    handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
    if urlsplit(request.full_url).hostname in _LOOPBACK:
        handlers.append(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(*handlers).open(request, timeout=seconds)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,  # noqa: ARG002
        fp: IO[bytes],  # noqa: ARG002
        code: int,  # noqa: ARG002
        msg: str,  # noqa: ARG002
        headers: HTTPMessage,  # noqa: ARG002
        newurl: str,  # noqa: ARG002
    ) -> None:
        return None  # the redirect itself is then the answer, with its status
