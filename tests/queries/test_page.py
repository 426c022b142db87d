"""The page of an audit: whole in itself, inert whatever the memory says, and right in a real browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from tests.queries.making import LINKED, WAITING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Memory

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HOSTILE = "<script>document.title='owned'</script><img src=http://127.0.0.1:9/x onerror=document.title='owned'>"
SECTIONS = ["weak", "timeline", "links", "current", "superseded"]


class Page(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(name="hostile")
def fixture_hostile(memory: Memory) -> Memory:
    memory.write("Projects/alpha.md", LINKED.replace("One machine is enough.", f"One machine {HOSTILE} \"'><b>"))
    memory.write("Review.md", WAITING)
    return memory


def page_of(memory: Memory, target: Path, *arguments: str) -> str:
    told = memory.curate("audit", *(arguments or ("Alpha",)), "--html", str(target))
    assert f"The page is {target}." in told
    return target.read_text(encoding="utf-8")


def test_the_page_is_whole_in_itself(hostile: Memory, tmp_path: Path) -> None:
    text = page_of(hostile, tmp_path / "a.html")
    page = Page(text)
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "img", "link", "iframe", "object", "embed", "form", "base"}
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name in {"src", "srcset", "style"}]
        assert (attributes.get("href") or "#").startswith("#")
    assert "http:" not in text.replace("http://127.0.0.1:9", "")
    assert not re.search(r"url\((?!#)|@import", text)
    (policy,) = [a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"
    assert HOSTILE in page.text
    assert [a.get("id") for tag, a in page.tags if tag == "section"] == SECTIONS


def test_the_page_shows_the_timeline_the_links_and_the_weak_spots(hostile: Memory, tmp_path: Path) -> None:
    page = Page(page_of(hostile, tmp_path / "a.html"))
    count = [a.get("class") for tag, a in page.tags]
    assert count.count("held") == 5
    assert count.count("gone") == 1
    assert sum((name or "").startswith("arc ") for name in count) == 8
    for words in ("Contradicting (2)", "Low confidence (1)", "Without evidence (5)", "Not confirmed for long (1)"):
        assert words in page.text
    ids = [a["id"] for tag, a in page.tags if a.get("id")]
    assert len(ids) == len(set(ids))
    assert {(a["href"] or "")[1:] for tag, a in page.tags if tag == "a"} <= set(ids)


def test_a_page_of_nothing_is_a_page(memory: Memory, tmp_path: Path) -> None:
    page = Page(page_of(memory, tmp_path / "a.html", "submarines", "--known-on", "2020-01-01"))
    assert "held nothing on 2020-01-01" in page.text
    assert "These items have no links." in page.text
    assert "<!DOCTYPE html>\n<html" in memory.curate("audit", "submarines", "--html", "-")


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
def test_a_browser_shows_it_and_asks_nobody(hostile: Memory, tmp_path: Path) -> None:
    target, log = tmp_path / "a.html", tmp_path / "net.json"
    page_of(hostile, target)
    told = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
            "--disable-background-networking", "--disable-component-update", f"--log-net-log={log}",
            "--virtual-time-budget=2000", "--dump-dom", f"file://{target}",
        ],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    page = Page(told.stdout)
    assert [a.get("id") for tag, a in page.tags if tag == "section"] == SECTIONS
    assert "<title>Audit: Alpha</title>" in told.stdout
    assert not {tag for tag, _ in page.tags} & {"script", "img"}
    assert "127.0.0.1:9" not in log.read_text(encoding="utf-8", errors="replace")
