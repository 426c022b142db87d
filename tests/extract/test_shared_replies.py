"""Shared replies: a retry on another machine is free, and another key neither finds nor reads anything."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from pipelines.errors import BadSettings
from pipelines.extract.llm.call import Call
from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.replies import KEPT_DAYS, Replies, SharedReplies
from pipelines.usage import Tally
from pipelines.user_settings import SharedReplySettings, load_user_settings
from tests.extract.fakes import Scripted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = datetime(2026, 3, 20, 2, tzinfo=UTC)
CALL = Call("extract", "extract", 2, "system", "the boat is called Kestrel", {"type": "object"})
KEY, OTHER = "a" * 32, "b" * 32


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    folder = tmp_path / "shared"
    folder.mkdir()
    return folder


@pytest.fixture
def ask(tmp_path: Path, shared: Path) -> Callable[..., str]:
    """Return how to ask a model on a machine, with a tenant's key."""

    def asking(model: Scripted, machine: str, key: str = KEY) -> str:
        there = SharedReplies(SharedReplySettings(shared, key), NOW)
        replies = Replies(tmp_path / machine, there)
        (tmp_path / machine).mkdir(exist_ok=True)
        return Chain([model], replies).ask(CALL, str, Tally())[0]

    return asking


def files(shared: Path) -> list[Path]:
    return [path for path in shared.rglob("*") if path.is_file()]


def test_another_machine_with_the_tenants_key_pays_nothing(ask: Callable[..., str], tmp_path: Path) -> None:
    model = Scripted("a:1", ["one", "two"])
    assert [ask(model, machine) for machine in ("first", "second")] == ["one", "one"]
    assert len(model.calls) == 1
    [first], [second] = (list((tmp_path / name / ".curate/replies").iterdir()) for name in ("first", "second"))
    assert (first.name, first.read_bytes()) == (second.name, second.read_bytes())


def test_another_tenant_finds_nothing_and_leaves_what_is_there(ask: Callable[..., str], shared: Path) -> None:
    model = Scripted("a:1", ["one", "two"])
    assert [ask(model, "first"), ask(model, "second", OTHER), ask(model, "third")] == ["one", "two", "one"]
    assert len(files(shared)) == 2


def test_neither_names_nor_contents_tell_what_was_asked_or_said(ask: Callable[..., str], shared: Path) -> None:
    ask(Scripted("a:1", ["the reply"]), "first")
    ask(Scripted("a:1", ["the reply"]), "second", OTHER)
    one, other = files(shared)
    for file in (one, other):
        told = str(file).encode() + file.read_bytes()
        assert not any(word in told for word in (b'reply"', b"Kestrel", b"a:1", CALL.digest.encode(), b"usage"))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert one.name != other.name
    assert one.read_bytes()[-20:] != other.read_bytes()[-20:]


def test_a_reply_opens_under_its_own_name_and_key_only(shared: Path) -> None:
    mine, others = (SharedReplies(SharedReplySettings(shared, key), NOW) for key in (KEY, OTHER))
    mine.keep("one", b"reply one")
    [file] = files(shared)
    for tenant, request in ((mine, "two"), (others, "one")):
        known = set(files(shared))
        tenant.keep(request, b"another reply")
        [target] = set(files(shared)) - known
        target.write_bytes(file.read_bytes())
        assert tenant.read(request) is None
    assert mine.read("one") == b"reply one"


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:40] + b"?" + data[41:], lambda _: b""])
def test_a_damaged_reply_is_asked_for_again_and_replaced(
    ask: Callable[..., str], shared: Path, damage: Callable[[bytes], bytes]
) -> None:
    model = Scripted("a:1", ["one", "two"])
    ask(model, "first")
    [file] = files(shared)
    file.write_bytes(damage(file.read_bytes()))
    assert [ask(model, "second"), ask(model, "third")] == ["two", "two"]


def test_old_replies_are_deleted(ask: Callable[..., str], shared: Path) -> None:
    ask(Scripted("a:1", ["one"]), "first")
    [file] = files(shared)
    old, young = (file.parent / name for name in ("old", "young"))
    for path, days in ((old, KEPT_DAYS + 1), (young, KEPT_DAYS - 1)):
        path.write_text("")
        os.utime(path, (then := (NOW - timedelta(days=days)).timestamp(), then))
    file.unlink()
    ask(Scripted("a:1", ["two"]), "second")
    assert set(files(shared)) == {file, young}


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_is_full_or_read_only_does_not_stop_the_night(ask: Callable[..., str], shared: Path) -> None:
    shared.chmod(0o500)
    assert ask(Scripted("a:1", ["one"]), "first") == "one"


def test_a_link_in_the_folder_is_not_followed(ask: Callable[..., str], shared: Path, tmp_path: Path) -> None:
    ask(Scripted("a:1", ["one"]), "first")
    [file] = files(shared)
    outside = tmp_path / "outside"
    file.parent.rename(outside)
    file.parent.symlink_to(outside)
    assert ask(Scripted("a:1", ["two"]), "second") == "two"


def settings(tmp_path: Path, table: str, **environ: str) -> SharedReplySettings | None:
    config = tmp_path / "config.toml"
    config.write_text(f"[night]\n{table}\n")
    return load_user_settings({"CURATE_CONFIG": str(config)} | environ).shared_replies


def test_the_settings_name_a_folder_and_a_variable_with_the_key(tmp_path: Path, shared: Path) -> None:
    assert settings(tmp_path, "") is None
    usual = settings(tmp_path, f'replies = "{shared}"', CURATE_REPLIES_KEY=KEY)
    assert usual == SharedReplySettings(shared, KEY)
    assert KEY not in repr(usual)
    named = settings(tmp_path, f'replies = "{shared}"\nreplies_key_env = "MINE"', MINE=OTHER, CURATE_REPLIES_KEY=KEY)
    assert named == replace(SharedReplySettings(shared, KEY), key=OTHER)


@pytest.mark.parametrize(
    ("table", "key", "sentence"),
    [
        ('replies = "{shared}"', "", "its key is missing; put the output of `openssl rand -hex 32` in the environment"),
        ('replies = "{shared}"', "short", "its key is too short"),
        ('replies = "{shared}/gone"', KEY, "it should be the absolute path of a folder that exists"),
        ('replies = "relative"', KEY, "it should be the absolute path of a folder that exists"),
        ('replies_key_env = "not a name"', KEY, "it should be the name of an environment variable, not the key itself"),
    ],
)
def test_faults_of_the_settings_are_named(tmp_path: Path, shared: Path, table: str, key: str, sentence: str) -> None:
    with pytest.raises(BadSettings) as fault:
        settings(tmp_path, table.format(shared=shared), CURATE_REPLIES_KEY=key)
    assert sentence in str(fault.value)
    assert "short;" not in str(fault.value).replace("too short;", "")
