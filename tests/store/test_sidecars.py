"""Sidecars: what describes an image, read with care, written whole, and never over what somebody wrote."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from pipelines.errors import BadFile
from pipelines.store.files import create_file
from pipelines.store.layout import sidecar_names
from pipelines.store.sidecars import MAX_BYTES, BadSidecar, Described, parse_sidecar, write_sidecar

if TYPE_CHECKING:
    from pathlib import Path

IMAGE = "Areas/pics/harbour.png"
SIDECAR = f"{IMAGE}.meta.json"
WHOLE = Described("A harbour.\nTwo boats.", "Harbour", "2026-03-18", "Anna")


def sidecar(**fields: object) -> bytes:
    return json.dumps({"description": "A harbour.", **fields}).encode()


def test_both_names_of_a_sidecar() -> None:
    assert sidecar_names("Areas/a.b.JPG") == ("Areas/a.b.JPG.meta.json", "Areas/a.b.meta.json")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    assert write_sidecar(tmp_path, IMAGE, WHOLE)
    assert parse_sidecar((tmp_path / SIDECAR).read_bytes()) == WHOLE
    assert list((tmp_path / ".curate/tmp").iterdir()) == []


def test_fields_of_others_and_of_the_wrong_kind() -> None:
    assert parse_sidecar(b"\xef\xbb\xbf" + sidecar(camera={"iso": 100}, title=7, date="soon", by=None)) == Described(
        "A harbour."
    )
    assert parse_sidecar(sidecar(date="2026-03-18T10:00:00Z", title=" a\nb ")) == Described(
        "A harbour.", "a b", "2026-03-18"
    )
    assert parse_sidecar(sidecar(description="a\r\n\x1b[31mb\ud800")).description == "a\n[31mb"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is not JSON"),
        (b"caf\xe9", "is not UTF-8"),
        (b"[]", "no text under"),
        (b"{}", "no text under"),
        (b'{"description": " \\n "}', "no text under"),
        (b'{"description": ["x"]}', "no text under"),
        (b"[" * 100_000, "not readable JSON"),
        (b'{"description": "x", "n": ' + b"9" * 5000 + b"}", "not readable JSON"),
        (b" " * (MAX_BYTES + 1), "is larger than 1 MB"),
    ],
)
def test_what_describes_nothing_has_a_reason(data: bytes, why: str) -> None:
    with pytest.raises(BadSidecar, match=why):
        parse_sidecar(data)


@pytest.mark.parametrize("name", sidecar_names(IMAGE))
@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "folder"])
def test_nothing_that_is_there_is_replaced(tmp_path: Path, name: str, kind: str) -> None:
    place = tmp_path / name
    place.parent.mkdir(parents=True)
    outside = tmp_path / "outside.json"
    if kind == "file":
        place.write_bytes(b"{}")
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to(outside)
    if kind == "link":
        outside.write_bytes(b"mine")
    assert not write_sidecar(tmp_path, IMAGE, WHOLE)
    assert place.is_symlink() == ("link" in kind)
    assert outside.exists() == (kind == "link")
    assert kind != "link" or outside.read_bytes() == b"mine"
    assert kind != "file" or place.read_bytes() == b"{}"


def test_nothing_is_written_through_a_folder_that_is_a_link(tmp_path: Path) -> None:
    root, outside = tmp_path / "memory", tmp_path / "outside"
    outside.mkdir()
    root.mkdir()
    (root / "Areas").symlink_to(outside)
    with pytest.raises(BadFile, match="symbolic link"):
        write_sidecar(root, "Areas/a.png", WHOLE)
    assert list(outside.iterdir()) == []


def test_a_disk_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    assert create_file(tmp_path, "a.json", b"one")
    assert not create_file(tmp_path, "a.json", b"two")
    assert (tmp_path / "a.json").read_bytes() == b"one"
