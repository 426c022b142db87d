"""The report that a bug prints: what a maintainer needs, nothing of what the memory says."""

from __future__ import annotations

import platform
import sqlite3
import traceback
from typing import TYPE_CHECKING

from pipelines import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence


def bug_report(bug: BaseException, arguments: Sequence[str]) -> str:
    """Return a Markdown report: versions, the verb without its texts, and where the code broke.

    The exception's own message is left out beyond its first 200 characters: it may quote a log.
    """
    verb = next((word for word in arguments if not word.startswith("-")), "(none)")
    options = " ".join(word.partition("=")[0] for word in arguments if word.startswith("--"))
    steps = "".join(traceback.format_tb(bug.__traceback__))
    return (
        "This is a bug in memcurate. Nothing is lost; please paste what follows into a new issue.\n\n"
        f"### `curate {verb}` failed: {type(bug).__name__}\n\n"
        f"- memcurate {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"{platform.platform()}\n- options: {options or 'none'}\n\n"
        f"```\n{steps}{type(bug).__name__}: {str(bug)[:200]}\n```"
    )
