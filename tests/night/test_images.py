"""A night describes images that nobody has described, with a model that sees, within the budget, and only once."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Memory
from tests.extract.wire import (
    KEY,
    Body,
    Prepared,
    Wire,
    anthropic_wire,
    completion,
    gemini_wire,
    generated,
    message,
    openai_error,
    openai_wire,
)

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
GIF = b"GIF89a" + b"pixels"
BOAT = "Resources/boat.png"
SAID = "A red boat at the quay of Vallø."
WIRES: dict[str, tuple[Any, Callable[[str], Prepared]]] = {
    "anthropic": (anthropic_wire, message),
    "gemini": (gemini_wire, generated),
    "openai": (openai_wire, completion),
}


@pytest.fixture(params=list(WIRES))
def served(
    request: pytest.FixtureRequest, memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Wire, str]]:
    provider = request.param
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", KEY)
    with WIRES[provider][0]() as wire:
        model = '\nmodel = "m-1"\napi_key_env = "OPENAI_API_KEY"' if provider == "openai" else ""
        (tmp_path / "config.toml").write_text(
            f'providers = ["{provider}"]\n[{provider}]\nbase_url = "{wire.url}"{model}\n', encoding="utf-8"
        )
        wire.by_request = lambda body: WIRES[provider][1](
            json.dumps({"description": f"- Rule: {SAID}"}) if shown(body) else '{"items": []}'
        )
        for path, data in ((BOAT, PNG), ("Projects/b.GIF", GIF), ("Areas/no.jpg", b"no image"), ("Areas/a.png", PNG)):
            (memory.root / path).write_bytes(data)
        memory.write("Areas/a.png.md", "Mine.\n")
        yield wire, provider


def shown(body: Body) -> list[tuple[str, bytes]]:
    """Return the images in a request of any wire: media type and bytes."""
    parts = body["contents"][-1]["parts"] if "contents" in body else body["messages"][-1]["content"]
    found = []
    for part in parts if isinstance(parts, list) else ():
        if part.get("type") == "image":
            found.append((part["source"]["media_type"], part["source"]["data"]))
        elif part.get("type") == "image_url":
            kind, _, data = part["image_url"]["url"].removeprefix("data:").partition(";base64,")
            found.append((kind, data))
        elif data := part.get("inlineData"):
            found.append((data.get("mimeType") or data["mime_type"], data["data"]))
    return [(kind, base64.urlsafe_b64decode(data.replace("+", "-").replace("/", "_"))) for kind, data in found]


def night(memory: Memory, day: int, exits: int = 0) -> dict[str, Any]:
    told: dict[str, Any] = memory.json("run", "--now", f"2026-03-{day:02}T02:00", exits=exits)
    return told


def test_new_images_are_described_once_and_found(memory: Memory, served: tuple[Wire, str]) -> None:
    wire, _ = served
    told = night(memory, 1)
    assert [one for body in wire.requests for one in shown(body)] == [("image/gif", GIF), ("image/png", PNG)]
    assert (told["brief"]["images"], wire.refused) == (2, [])
    assert memory.read(f"{BOAT}.md") == f"---\ntrust: external\n---\nboat.png: - Rule: {SAID}\n"
    assert "2 images described" in memory.git("log", "-1", "--format=%s")
    assert f"{BOAT}.md" in memory.git("show", "--name-only", "--format=", "HEAD")
    assert memory.read("Areas/a.png.md") == "Mine.\n"
    [hit] = memory.json("search", "red boat", "--limit", "1")["results"]
    assert (hit["path"], hit["trust"], hit["item"]) == (BOAT, "external", "")
    memory.write(f"{BOAT}.md", "- Decision: It is a ferry.\n")
    asked = len(wire.requests)
    night(memory, 2)
    assert (len(wire.requests), memory.read(f"{BOAT}.md")) == (asked, "- Decision: It is a ferry.\n")
    assert "ferry" not in memory.curate("items", "--json")
    assert "Everything is accounted for" in memory.curate("check")


@pytest.mark.parametrize("served", ["openai"], indirect=True)
@pytest.mark.parametrize("status", [400, 500])
def test_a_model_that_cannot_see_describes_nothing_and_one_that_fails_is_named(
    memory: Memory, served: tuple[Wire, str], status: int
) -> None:
    wire, _ = served
    wire.by_request = lambda body: openai_error(status) if shown(body) else completion('{"items": []}')
    told = night(memory, 1)
    assert "images" not in told["brief"]
    assert not (memory.root / f"{BOAT}.md").exists()
    assert any("Images are left without a description" in one for one in told["warnings"]) == (status == 500)
    wire.by_request = lambda body: completion('{"description": "A boat."}' if shown(body) else '{"items": []}')
    assert night(memory, 2)["brief"]["images"] == 2


@pytest.mark.parametrize("served", ["openai"], indirect=True)
def test_a_cap_that_is_spent_leaves_images_for_later(memory: Memory, served: tuple[Wire, str], tmp_path: Path) -> None:
    wire, _ = served
    config = tmp_path / "config.toml"
    before = config.read_text(encoding="utf-8")
    config.write_text(f"{before}max_tokens = 300\n[limits]\nmax_tokens = 5000\n", encoding="utf-8")
    told = night(memory, 1)
    assert ("images" in told["brief"], [body for body in wire.requests if shown(body)]) == (False, [])
    assert any("raise the cap" in one for one in told["warnings"])


def test_a_program_describes_nothing(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text('providers = ["exec:false"]\n', encoding="utf-8")
    (memory.root / BOAT).write_bytes(PNG)
    assert night(memory, 1)["model"]["calls"] == 0
    assert not (memory.root / f"{BOAT}.md").exists()
