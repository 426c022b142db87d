"""Which targets are installed, found out by what taking them back would change."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from pipelines.errors import CurateError
from pipelines.install import NIGHTLY, TARGETS
from pipelines.install.files import changes

if TYPE_CHECKING:
    from pipelines.install.plan import Asked, Target


def target_module(target: str) -> Target:
    """Return the module that stands for a target."""
    return cast("Target", importlib.import_module(f"pipelines.install.{target.replace('-', '_')}"))


def installed_agents(asked: Asked) -> list[str]:
    """Return the agents that are told of a memory: those from which an uninstallation would take something."""
    return [name for name in TARGETS if name not in NIGHTLY and _is_installed(name, asked)]


def _is_installed(name: str, asked: Asked) -> bool:
    try:
        return bool(changes(target_module(name).plan(asked, adding=False)))
    except CurateError:
        return False
