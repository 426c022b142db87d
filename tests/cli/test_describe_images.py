"""`curate index --describe-images`, and what `curate index` and `curate status` tell of files without text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pipelines.store.lock import run_lock
from tests.extract.days import forget_the_machine
from tests.extract.images import PNG, gif, png
from tests.extract.wire import KEY, anthropic_error, anthropic_wire, gemini_wire, generated, message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Memory
    from tests.extract.wire import Wire

SEEN = json.dumps({"title": "Red boat", "description": "A photo of a red boat at the quay."})


@pytest.fixture(name="config")
def user_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    forget_the_machine(monkeypatch)
    config = tmp_path / "config.toml"
    monkeypatch.setenv("CURATE_CONFIG", str(config))
    config.write_text("", encoding="utf-8")
    return config


@pytest.fixture
def claude(config: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with anthropic_wire() as wire:
        config.write_text(f'[anthropic]\nbase_url = "{wire.url}"\n', encoding="utf-8")
        yield wire


def image(memory: Memory, name: str, data: bytes = PNG) -> Path:
    place = memory.root / "Resources" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place


def sidecar(memory: Memory, name: str) -> dict[str, str]:
    told: dict[str, str] = json.loads(memory.read(f"Resources/{name}.meta.json"))
    return told


def test_an_image_is_described_once_and_found(memory: Memory, claude: Wire) -> None:
    image(memory, "boat.png")
    claude.answers = [message(SEEN)]
    told = memory.curate("index", "--describe-images")
    assert "  Resources/boat.png is described.\nImages: 1 described, 0 skipped, 0 failed, by anthropic:" in told
    assert sidecar(memory, "boat.png") == {
        "description": "A photo of a red boat at the quay.",
        "title": "Red boat",
        "by": "anthropic:claude-haiku-5-5@describe/1",
    }
    assert "Resources/boat.png:1  trust external" in memory.curate("search", "red", "boat")
    assert "0 described" in memory.curate("index", "--describe-images")
    assert len(claude.requests) == 1
    assert KEY not in told


def test_a_failing_image_stops_no_other(memory: Memory, claude: Wire) -> None:
    for name in "abcd":
        image(memory, f"{name}.png")
    claude.answers = [message(SEEN), anthropic_error(400, "bad"), message("no json"), message(SEEN)]
    told = memory.curate("index", "--describe-images", exits=1)
    assert "b.png has no description yet: anthropic rejected the request as invalid (status 400)." in told
    assert "c.png has no description yet: anthropic answered without the requested JSON" in told
    assert "2 described, 0 skipped, 2 failed" in told
    assert "Index: " in told
    assert sorted(path.name for path in (memory.root / "Resources").glob("*.json")) == [
        "a.png.meta.json",
        "d.png.meta.json",
    ]
    claude.answers = [message(SEEN), message("no json")]
    told = memory.curate("index", "--describe-images", "--json", exits=1)
    looked = json.loads(told.splitlines()[0])["images"]["looked"]
    assert [(one["path"], one["outcome"]) for one in looked] == [
        ("Resources/b.png", "described"),
        ("Resources/c.png", "failed"),
    ]


def test_a_provider_that_always_fails_is_not_asked_a_thousand_times(memory: Memory, claude: Wire) -> None:
    for number in range(9):
        image(memory, f"{number}.png")
    claude.answers = [anthropic_error(401, "authentication_error")] * 9
    told = memory.curate("index", "--describe-images", exits=1)
    assert "0 described, 0 skipped, 5 failed, 4 skipped after repeated failures" in told
    assert len(claude.requests) == 5


def test_what_the_provider_does_not_take_is_not_sent(memory: Memory, claude: Wire) -> None:
    image(memory, "big.png", PNG + b"x" * 4_000_000)
    image(memory, "wide.png", png(9000, 10))
    image(memory, "empty.png", b"")
    image(memory, "text.png", b"no image")
    told = memory.curate("index", "--describe-images")
    assert "Resources/big.png is larger than the provider's limit of 3.8 MB." in told
    assert "Resources/wide.png has 9,000 pixels on a side; the provider accepts 8,000." in told
    assert "Resources/empty.png is empty." in told
    assert "Resources/text.png has a type that the provider does not accept (unknown)." in told
    assert claude.requests == []


def test_gemini_describes_and_takes_no_gif(memory: Memory, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image(memory, "a.gif", gif(3, 3))
    image(memory, "b.png")
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    with gemini_wire() as wire:
        config.write_text(f'[gemini]\nbase_url = "{wire.url}"\n', encoding="utf-8")
        wire.answers = [generated(SEEN)]
        told = memory.curate("index", "--describe-images")
    assert "a.gif has a type that the provider does not accept (image/gif)." in told
    assert sidecar(memory, "b.png")["by"] == "gemini:gemini-3.8-flash@describe/1"


def test_nobody_who_can_see(memory: Memory, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image(memory, "a.png")
    told = memory.curate("index", "--describe-images", exits=1)
    assert "No vision model is set up" in told
    assert "ANTHROPIC_API_KEY" in told
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    config.write_text('providers = ["rules"]\n', encoding="utf-8")
    assert "No vision model is set up" in memory.curate("index", "--describe-images", exits=1)


def test_nothing_is_asked_while_another_run_works(memory: Memory, claude: Wire) -> None:
    image(memory, "a.png")
    with run_lock(memory.root, "a test"):
        assert "Another run holds the lock" in memory.curate("index", "--describe-images", exits=75)
    assert claude.requests == []


def test_what_a_person_wrote_or_linked_stays(memory: Memory, claude: Wire, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    image(memory, "mine.png")
    memory.write("Resources/mine.png.meta.json", "{}")
    image(memory, "other.png")
    memory.write("Resources/other.meta.json", '{"description": "mine"}')
    image(memory, "linked.png")
    (memory.root / "Resources/linked.png.meta.json").symlink_to(outside)
    memory.curate("index", "--describe-images")
    assert claude.requests == []
    assert memory.read("Resources/mine.png.meta.json") == "{}"
    assert not outside.exists()


def test_index_and_status_tell_the_same(memory: Memory, config: Path) -> None:
    assert config.exists()
    assert "Skipped" not in memory.curate("status")
    assert json.loads(memory.curate("status", "--json"))["skipped"] == []
    memory.write("Resources/a.pdf", "no pdf")
    for number in range(6):
        image(memory, f"{number}.png")
    memory.write("Sessions/s.jsonl", '{"role": "user", "content": "hi"}\n{')
    undescribed = "has no description yet; `curate index --describe-images` writes one."
    named = [f"Resources/{number}.png {undescribed}" for number in range(3)]
    lines = [*named, f"and 3 more, of which each {undescribed}", "Resources/a.pdf is broken, or not a PDF."]
    part = "Sessions/s.jsonl is indexed in part: line 2 is cut off at the end."
    told = memory.curate("index").splitlines()
    assert told[1:9] == [f"  {line}" for line in [*lines, part]]
    shown = memory.curate("status").splitlines()
    assert shown[-1].startswith("Version")
    assert shown[-7:-1] == [*(f"Skipped   {line}" for line in lines), f"Note      {part}"]
    facts = json.loads(memory.curate("status", "--json"))
    report = json.loads(memory.curate("index", "--json"))
    assert len(facts["skipped"]) == 7
    assert {key: facts[key] for key in ("skipped", "partial")} == {key: report[key] for key in ("skipped", "partial")}
    memory.write("Resources/a.pdf", "")
    memory.curate("index")
    assert "Skipped   Resources/a.pdf is empty." in memory.curate("status")


def test_help_says_what_is_indexed(memory: Memory) -> None:
    told = memory.curate("index", "--help")
    for word in ("--describe-images", "PDF", "Sessions", ".meta.json"):
        assert word in told
