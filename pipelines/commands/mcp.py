"""`curate mcp`: the memory as tools of the Model Context Protocol."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click

from pipelines.commands.options import memory_option
from pipelines.errors import CurateError

_SDK: Final = frozenset({"mcp", "mcp_types"})
_MISSING: Final = "The MCP server needs the package `mcp`, version 2.3 or newer, which is not installed."
_ADVICE: Final = (
    "Add it where memcurate is installed: `pipx inject memcurate 'mcp>=2.3,<3'`, or from a checkout"
    " `pip install '.[mcp]'`."
)


@click.command()
@memory_option
@click.pass_context
def command(context: click.Context, memory: Path | None) -> None:
    """Serve the memory to an agent over standard input and output (MCP): search, read, context, log.

    An agent's client starts it; `curate install` tells the client so.
    """
    from pipelines.queries.search_settings import spare_threads  # noqa: PLC0415  the verb's work, not its help

    spare_threads()
    try:
        from pipelines.mcp import serve  # noqa: PLC0415  an extra, and slow to import
    except ImportError as fault:
        if (fault.name or "").partition(".")[0] not in _SDK:
            raise
        raise CurateError(_MISSING, _ADVICE) from fault

    named = memory or context.find_root().params.get("memory") or os.environ.get("CURATE_MEMORY")
    serve(Path(named).expanduser().absolute() if named else None)
