"""An image is found by the description beside it, which a change of either file brings up to date."""

from pathlib import Path

import pytest

from pipelines.search.build import freshen, update_index
from pipelines.search.filters import Filters
from pipelines.search.query import SearchRequest, search

BOAT = "Resources/boat.png"


@pytest.fixture(name="root")
def filled(root: Path) -> Path:
    (root / "Resources/deep").mkdir(parents=True)
    for name in ("boat.png", "bare.JPG", "deep/map.webp", "both.gif", "bad.jpeg"):
        (root / "Resources" / name).write_bytes(b"x" * 9)
    put(root, f"{BOAT}.md", "---\ntopic: Harbour\n---\n\nA red boat at the quay.\n")
    put(root, "Resources/deep/map.webp.meta.json", '{"description": "The walls of Urbino", "topic": "walls", "n": [1]}')
    put(root, "Resources/both.gif.md", "The heron wins.\n")
    put(root, "Resources/both.gif.meta.json", '{"title": "walrus"}')
    put(root, "Resources/bad.jpeg.meta.json", '["a penguin"]')
    put(root, "Resources/alone.png.md", "Its image with the otter is gone.\n")
    return root


def put(root: Path, path: str, text: str) -> None:
    (root / path).write_text(text, encoding="utf-8")


def found(root: Path, query: str, *meta: str) -> list[str]:
    freshen(root)
    return [f"{hit.path}:{hit.lines}" for hit in search(root, query, 9, (), SearchRequest(filters=Filters(meta=meta)))]


def test_an_image_is_found_by_what_is_said_of_it(root: Path) -> None:
    reasons = dict(update_index(root).skipped)
    assert found(root, "red quay") == found(root, "boat", "topic=harbour") == [f"{BOAT}:5"]
    assert found(root, "urbino") == found(root, "map", "topic=walls") == ["Resources/deep/map.webp:5"]
    assert (found(root, "heron"), found(root, "walrus")) == (["Resources/both.gif:1"], [])
    assert found(root, "otter") == ["Resources/alone.png.md:1"]
    assert reasons["Resources/bare.JPG"] == "is an image without a description beside it"
    assert found(root, "penguin") == ["Resources/bad.jpeg:1"]
