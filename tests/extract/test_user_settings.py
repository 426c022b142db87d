"""The user's own settings: the keys in the environment, the file, and every fault of it at once."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from pipelines.errors import BadSettings
from pipelines.extract.choose_models import chain_of
from pipelines.user_settings import UserSettings, load_user_settings
from tests.conftest import Memory

KEY = "key-of-nobody"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "memcurate"
    folder.mkdir()
    return folder / "config.toml"


def load_in(environ: dict[str, str], provider: str = "") -> UserSettings:
    with patch.dict(os.environ, environ, clear=True):
        return load_user_settings(provider)


def load(config: Path, text: str = "", **environ: str) -> UserSettings:
    config.write_text(text, encoding="utf-8")
    return load_in({"XDG_CONFIG_HOME": str(config.parent.parent), **environ})


def faults(config: Path, text: str, **environ: str) -> tuple[str, ...]:
    with pytest.raises(BadSettings) as caught:
        load(config, text, **environ)
    assert str(config) in str(caught.value)
    return caught.value.faults


@pytest.mark.parametrize(
    ("environ", "providers"),
    [
        ({}, ("rules",)),
        ({"ANTHROPIC_API_KEY": KEY}, ("anthropic",)),
        ({"GEMINI_API_KEY": KEY}, ("gemini",)),
        ({"GOOGLE_API_KEY": KEY}, ("gemini",)),
        ({"ANTHROPIC_API_KEY": KEY, "GEMINI_API_KEY": KEY}, ("anthropic",)),
        ({"ANTHROPIC_API_KEY": "  ", "GEMINI_API_KEY": ""}, ("rules",)),
    ],
)
def test_without_a_file_the_keys_decide(environ: dict[str, str], providers: tuple[str, ...]) -> None:
    assert load_in(environ).providers == providers


def test_all_faults_are_named_at_once_and_no_secret_is_shown(config: Path) -> None:
    secret = "sk-" + "ant-0123456789"
    found = faults(
        config,
        f"""
        providers = ["gemini", "mistral"]
        pings = true
        [anthropic]
        api_key = "{secret}"
        max_tokens = 1
        temperature = 0.5
        base_url = "file:///etc/passwd"
        [gemini]
        api_key_env = "{secret}"
        """,
    )
    text = "\n".join(found)
    assert len(found) == 7
    known = "anthropic, gemini, openai, claude-code, codex, rules"
    assert f"providers[1]: it is none of {known}, or exec: and a command" in found
    assert "pings: there is no such key" in found
    assert "anthropic.max_tokens: it should be greater than or equal to 256" in found
    assert "anthropic.temperature: there is no such key" in found
    assert "anthropic.base_url: it should be an address" in text
    assert "anthropic.api_key: a key does not belong in this file" in text
    assert "gemini.api_key_env: it should be the name of an environment variable" in text
    assert secret not in text


def test_a_key_whose_variable_cannot_be_read_is_not_called_missing(config: Path) -> None:
    assert len(faults(config, 'providers = ["gemini"]\n[gemini]\napi_key_env = "-"')) == 1


def test_no_providers_at_all_is_a_fault(config: Path) -> None:
    assert len(faults(config, "providers = []")) == 1


def test_where_the_file_is_looked_for(tmp_path: Path) -> None:
    text = 'providers = ["rules"]\n[anthropic]\nmodel = "mine"\n'
    named = tmp_path / "named.toml"
    named.write_text(text, encoding="utf-8")
    at_home = tmp_path / "home" / ".config" / "memcurate" / "config.toml"
    at_home.parent.mkdir(parents=True)
    at_home.write_text(text, encoding="utf-8")
    key = {"ANTHROPIC_API_KEY": KEY}
    home = str(tmp_path / "home")
    for environ in ({"CURATE_CONFIG": str(named)}, {"HOME": home}, {"HOME": home, "XDG_CONFIG_HOME": "relative"}):
        user = load_in({**key, **environ})
        assert user.models["anthropic"].model == "mine"
    elsewhere = load_in({**key, "HOME": home, "XDG_CONFIG_HOME": str(tmp_path)})
    assert elsewhere.models["anthropic"].model == "claude-haiku-5-5"


def test_a_named_file_that_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="does not exist"):
        load_in({"CURATE_CONFIG": str(tmp_path / "none.toml")})


def chain(user: UserSettings) -> list[str]:
    chosen = chain_of(user, user.providers)
    return [model.name for model in chosen.models] if chosen else []


def test_the_providers_are_a_chain_and_the_rules_stand_alone(config: Path) -> None:
    keys = {"ANTHROPIC_API_KEY": KEY, "GEMINI_API_KEY": KEY}
    both = load_in(keys)
    assert chain(both) == ["anthropic:claude-haiku-5-5"]
    named = load(config, 'providers = ["gemini", "exec:./me.sh -x", "anthropic"]', **keys)
    assert chain(named) == ["gemini:gemini-3.8-flash", "exec:me.sh", "anthropic:claude-haiku-5-5"]
    assert len(faults(config, 'providers = ["rules", "anthropic"]')) == 1
    for rules in (UserSettings(("anthropic", "gemini")), load_in({}), load(config, 'providers = ["rules"]')):
        assert not chain(rules)
    assert KEY not in repr(both)


LOCAL = """
providers = ["openai"]
[openai]
base_url = "http://127.0.0.1:11434/v1"
model = "qwen3:8b"
"""


def test_a_local_server_needs_no_key_and_gets_none_unasked(config: Path) -> None:
    user = load(config, LOCAL, OPENAI_API_KEY=KEY)
    local = user.models["openai"]
    assert local.api_key == ""
    assert chain(user) == ["openai:qwen3:8b"]
    named = load(config, LOCAL + 'api_key_env = "LOCAL_KEY"', LOCAL_KEY=KEY)
    assert named.models["openai"].api_key == KEY
    claude = load(config, 'providers = ["anthropic"]\n[anthropic]\nbase_url = "http://127.0.0.1:8080"\nmodel = "m"')
    assert chain(claude) == ["anthropic:m"]


def test_others_may_verify_than_those_who_read(config: Path) -> None:
    keys = {"ANTHROPIC_API_KEY": KEY, "GEMINI_API_KEY": KEY}
    assert load(config, "", **keys).verify == ()
    text = 'providers = ["anthropic"]\n[verify]\nproviders = ["gemini", "exec:./judge.sh"]\n'
    named = load(config, text, **keys)
    assert (named.providers, named.verify) == (("anthropic",), ("gemini", "exec:./judge.sh"))
    environ = {"XDG_CONFIG_HOME": str(config.parent.parent), "ANTHROPIC_API_KEY": KEY}
    assert load_in(environ, "anthropic").verify == (), "the command line names the only one that is asked"
    [fault] = faults(config, text, ANTHROPIC_API_KEY=KEY)
    assert fault.startswith("verify.providers[0]: its key is missing")


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        ('providers = ["exec:"]', "it should have a command after exec:"),
        ("providers = []", "verify.providers"),
        ('providers = ["rules"]', "it should be one of anthropic, gemini, openai, claude-code, codex, or exec:"),
        ("asked = 1", "there is no such key"),
    ],
)
def test_a_fault_in_who_verifies_is_named(config: Path, told: str, fault: str) -> None:
    [found] = faults(config, f"[verify]\n{told}\n")
    assert fault in found


def test_keys_of_earlier_versions_stop_no_night(config: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    told = """
        [limits]
        max_minutes = 30
        [exec]
        timeout_seconds = 1800
        input_tokens = 500
        [prices."openai:m"]
        input = 1.0
        [openai]
        timeout_seconds = 5
        [embedder]
        folder = "models"
        [push]
        tries = 2
    """
    user = load(config, told)
    keys = (
        "`prices`, `limits.max_minutes`, `embedder.folder`, `push.tries`, `exec.input_tokens`, `openai.timeout_seconds`"
    )
    [note] = user.ignored
    assert note == f"{config} sets {keys}, which this version no longer knows; that is ignored."
    assert user.file.exec.timeout_seconds == 1800
    assert not load(config).ignored
    config.write_text(told)
    monkeypatch.setenv("CURATE_CONFIG", str(config))
    for verb in ("run", "doctor"):
        assert "`push.tries`" in memory.curate(verb, "--now", "2026-03-20T02:00")
