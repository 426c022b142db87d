"""`curate doctor`: whether the set-up can work, and the one next thing to do."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import json_option, memory_option, memory_root, now_option
from pipelines.cli.output import say, say_json, say_table
from pipelines.clock import moment
from pipelines.errors import EXPECTED, FINE, BadSettings
from pipelines.settings import load_settings
from pipelines.store.secrets import veil

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.option("--probe", is_flag=True, help="Ask git's remotes and the models' providers, too, within seconds.")
@json_option("Print it as JSON.")
@memory_option
@now_option
def curate_doctor(*, probe: bool, as_json: bool, memory: Path | None, now: str | None) -> int:
    """Check git, the disk, settings and keys, the memory, its index, what starts nights and how the last ones ended.

    Nothing is changed. Each check is ok, worth a look, or wrong; the exit code is 1 when one is wrong. What is said
    last is the one next thing to do.
    """
    from pipelines.queries.doctor import State, examine, next_thing  # noqa: PLC0415  the verb's work, not its help

    root = memory_root(memory)
    try:
        when = moment(now, load_settings(root))
    except BadSettings:  # which is a finding
        when = datetime.now(UTC)
    findings = examine(root, when, probing=probe)
    first = next_thing(findings)
    if as_json:
        say_json({"findings": [asdict(one) for one in findings], "next": asdict(first) if first else None})
    else:
        say_table(("check", "state", "what was found"), [(one.check, one.state, _line(one.says)) for one in findings])
        say(f"\nNext, for {first.check}: {_line(first.to_do)}" if first else "\nThere is nothing to do.")
    return EXPECTED if any(one.state is State.WRONG for one in findings) else FINE


def _line(text: str) -> str:
    return " ".join(veil(text).split())
