"""A real Chromium for the tests of a module, where there is one."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser as Chromium

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP *.example 127.0.0.1",
)  # fmt: skip


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    """Return a Chromium without a window. Every host that ends in `.example` leads to this machine."""
    if not PROGRAM:
        pytest.skip("there is no Chromium: `apt-get install chromium`")
    from playwright.sync_api import sync_playwright  # which takes a second to load

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=[*QUIET])
        yield browser
        browser.close()
