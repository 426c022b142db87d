"""A whole call within its time.

The libraries' own time limits begin anew with every byte, so a server that drips never reaches them.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")
_SLACK: Final = 1.1  # the library's own limit, which says more of what was wrong, comes first where it works
_GRACE: Final = 0.2


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """Return what `work` returns, or raise what it raises.

    It runs in a thread of its own, which is left behind when its time is over: it holds up neither the run nor its end.

    Raises:
        TimeoutError: it took longer than `seconds`, and a little.
    """
    returned: list[Result] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            returned.append(work())
        except BaseException as fault:  # noqa: BLE001  it is raised below, in the thread that asked
            raised.append(fault)

    thread = threading.Thread(target=run, name="model call", daemon=True)
    thread.start()
    thread.join(seconds * _SLACK + _GRACE)
    if raised:
        raise raised[0]
    if returned:
        return returned[0]
    raise TimeoutError
