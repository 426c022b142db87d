"""Which targets are installed, found out by what taking them back would change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.install import NIGHTLY, TARGETS
from pipelines.install.agents import plan_agents
from pipelines.install.claude_code import plan_claude_code
from pipelines.install.codex import plan_codex
from pipelines.install.cron import plan_cron
from pipelines.install.files import changes
from pipelines.install.launchd import plan_launchd
from pipelines.install.openclaw import plan_openclaw
from pipelines.install.systemd import plan_systemd

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipelines.install.plan import Asked, Plan


PLANS: Final[Mapping[str, Callable[..., Plan]]] = {
    "claude-code": plan_claude_code,
    "codex": plan_codex,
    "openclaw": plan_openclaw,
    "agents": plan_agents,
    "cron": plan_cron,
    "systemd": plan_systemd,
    "launchd": plan_launchd,
}
"""What each target of `TARGETS` does: from what was asked for, and whether to add or to take back, to its plan."""


def installed_agents(asked: Asked) -> list[str]:
    """Return the agents that are told of a memory: those from which an uninstallation would take something."""
    return [name for name in TARGETS if name not in NIGHTLY and _is_installed(name, asked)]


def _is_installed(name: str, asked: Asked) -> bool:
    try:
        return bool(changes(PLANS[name](asked, adding=False)))
    except CurateError:
        return False
