"""The checks in their order: what stands further up has to be mended first."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pipelines.doctor import machine, memory, nights, person
from pipelines.doctor.findings import wrong
from pipelines.errors import CurateError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from pipelines.doctor.findings import Finding

    Check = Callable[[Path], Finding]


def examine(root: Path, now: datetime, *, probing: bool) -> list[Finding]:
    """Return what each check found, the most basic first; nothing is changed.

    Args:
        root: the memory.
        now: the moment; where its settings are broken, in any zone.
        probing: whether git's remotes and the models' providers are asked, too.
    """
    checks: list[tuple[str, Check]] = [
        ("git", machine.git_program),
        ("disk", machine.disk),
        ("settings", memory.settings),
        ("repository", memory.repository),
        ("providers", person.providers),
        ("nights", partial(nights.last_nights, now=now)),
        ("schedule", partial(person.schedule, now=now)),
        ("items", memory.items),
        ("index", memory.index),
        ("privacy", machine.privacy),
        ("embedder", person.embedder),
        ("agents", person.agents),
        ("push", nights.push),
    ]
    if probing:
        checks += [("remote", nights.remotes), ("models", nights.models)]
    return [_found(name, check, root) for name, check in checks]


def _found(name: str, check: Check, root: Path) -> Finding:
    try:
        return check(root)
    except CurateError as fault:
        return wrong(name, fault.sentence, fault.advice.strip() or "Mend that first.")
    except Exception as fault:  # noqa: BLE001  one broken thing must not hide what the other checks find
        return wrong(name, f"This could not be looked at: {type(fault).__name__}.", "Please report this.")
