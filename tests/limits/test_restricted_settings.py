"""What a memory's own curate.toml cannot set, such as what is the user's, is named and counts for nothing."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import get_args
from unittest.mock import patch

import pytest
from pydantic import BaseModel

from pipelines.settings import Settings, load_settings
from pipelines.user_settings import UserFile, load_user_settings
from tests.conftest import Memory

_TABLES = ("", *(name for name, field in Settings.model_fields.items() if isinstance(field.default, BaseModel)))
_VALUES = ('"http://evil.example"', "{ x = 1 }", "[1]", "9999999")


def keys_in(table: type[BaseModel]) -> Iterator[str]:
    """Yield the name of every key of a table, and of the tables in it."""
    for name, key in table.model_fields.items():
        yield key.alias or name
        for inner in (key.annotation, *get_args(key.annotation)):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from keys_in(inner)


def _keys() -> Iterator[tuple[str, str]]:
    """Every name of the user's settings in every table of curate.toml, where the memory has no key of that name."""
    for name in sorted(set(keys_in(UserFile))):
        for table in _TABLES:
            held = Settings if not table else type(Settings.model_fields[table].default)
            if name not in held.model_fields:
                yield table, name


def test_the_table_holds_what_could_do_harm() -> None:
    harmful = "providers base_url api_key api_key_env model ping url push remote memories rules_from embedder"
    assert set(harmful.split()) <= set(keys_in(UserFile))


@pytest.mark.parametrize("value", _VALUES)
def test_no_key_of_the_users_settings_counts_in_a_memory(tmp_path: Path, value: str) -> None:
    keys = list(_keys())
    known = {name: set(type(one).model_fields) if isinstance(one, BaseModel) else True for name, one in Settings()}
    assert len(keys) > 5 * len(UserFile.model_fields)
    for table, key in keys:
        head = f"[{table}]\n" if table else ""
        (tmp_path / "curate.toml").write_text(f"{head}{key} = {value}\n")
        settings = load_settings(tmp_path)
        assert settings.model_dump(include=known) == Settings().model_dump(), (table, key)
        assert f"`{f'{table}.{key}'.removeprefix('.')}`" in settings.ignored_note[0]
        assert value not in settings.ignored_note[0]


def test_keys_of_other_versions_stop_nothing(tmp_path: Path) -> None:
    (tmp_path / "curate.toml").write_text('"a\\nb" = 1\n[review]\nidle_days = 60\n[schedule]\nindex_minutes = 5\n')
    assert load_settings(tmp_path).ignored_note == [
        "curate.toml sets `a b`, `review`, `schedule.index_minutes`, which a memory cannot set; that is ignored."
    ]


def test_the_rest_of_the_file_counts(tmp_path: Path) -> None:
    (tmp_path / "curate.toml").write_text('timezone = "Europe/Zurich"\n[schedule]\nnight = "03:00"\nmodel = "x"\n')
    settings = load_settings(tmp_path)
    assert (settings.timezone, settings.schedule.night) == ("Europe/Zurich", ["03:00"])
    assert settings.ignored_note[0].startswith("curate.toml sets `schedule.model`, which a memory cannot set;")


def test_the_file_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "curate.toml"
    file.write_text('model = "x"\n')
    settings = load_settings(tmp_path)
    file.unlink()
    assert settings.ignored_note


def test_the_night_goes_on_and_run_status_and_doctor_name_the_keys(memory: Memory, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    memory.write(
        "curate.toml",
        f'providers = ["exec:touch {canary}"]\nrules_from = "self"\n[ping]\nurl = "file://{canary}"\n'
        f'[push]\nremote = "ext::touch {canary}"\n[openai]\nbase_url = "http://127.0.0.1:9"\nmodel = "m"\n',
    )
    memory.write("Logs/2026-03-18.md", "# 2026-03-18\n\n- 09:14 Decision: use SQLite for the index\n")
    for verb in ("run", "status", "doctor"):
        told = " ".join(memory.curate(verb, "--now", "2026-03-20T02:00").split())
        assert (
            "curate.toml sets `providers`, `rules_from`, `ping`, `push`, `openai`, which a memory cannot set" in told
        ), verb
        assert str(canary) not in told
    assert "use SQLite for the index" in memory.read("Areas/general.md")
    assert not canary.exists()
    with patch.dict(os.environ, clear=True):
        assert load_user_settings().providers == ("rules",)
