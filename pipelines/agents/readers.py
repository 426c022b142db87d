"""Which models read the logs: what `curate models use` and `curate install` write into the user's settings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pipelines.agents.install_plan import Edit
from pipelines.agents.settings_files import drop_at, edit_toml, table_at, value_at
from pipelines.extract.llm.logged_in import found_program
from pipelines.provider_settings import LOGINS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipelines.agents.settings_files import Settings


def reader_edit(file: Path, names: Sequence[str], by: str = "") -> Edit:
    """Return the edit that names the providers that read, in order; all other settings stay.

    Programs are written with their paths, because nights run with another PATH.

    Args:
        file: the user's settings.
        names: the providers.
        by: a comment that marks what was written, so that it can be removed later; empty for a person's own choice.
    """
    return Edit(file, lambda text: edit_toml(text, partial(_name, names=names, by=by)))


def reader_removal(file: Path, name: str, by: str) -> Edit:
    """Return the edit that removes what `reader_edit` wrote with the same `by`, unless somebody changed it."""
    return Edit(file, lambda text: edit_toml(text, partial(_forget, name=name, by=by)))


def _name(settings: Settings, names: Sequence[str], by: str) -> None:
    import tomlkit  # noqa: PLC0415  few commands write TOML

    def noted(value: Any) -> Any:  # noqa: ANN401  as TOML has it
        item = tomlkit.item(value)
        return item.comment(by) if by else item

    settings["providers"] = noted(list(names))
    for name in names:
        if name in LOGINS and (program := found_program(name)):
            table_at(settings, [name]).setdefault("program", noted(program))


def _forget(settings: Settings, name: str, by: str) -> None:
    for path, written in ((("providers",), [name]), ((name, "program"), None)):
        found: Any = value_at(settings, path)
        if found is not None and found == (written or found) and found.trivia.comment == f"# {by}":
            drop_at(settings, path)
