"""Take the pictures of `curate view` that README shows: the month of `examples/month`, in a real Chromium.

`make demo` calls this; it needs Chromium, as `apt-get install chromium` brings it.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.month import ONE_BY_ONE, live
from benchmarks.month_gold import read_month
from pipelines.cli.serve_commands import run_verb
from pipelines.night.run import night_of
from pipelines.store.snapshot import read_documents
from pipelines.user_settings import load_user_settings
from pipelines.view.app import serve

HERE = Path(__file__).resolve().parent
INTO = HERE.parent / "docs" / "pictures"
ANSWERS = f"exec:{sys.executable} {HERE / 'month' / 'answer.py'}"
MORNING = datetime(2026, 5, 1, 6, tzinfo=UTC)
SHOWN = "Ferrywake goes live on 1 June."
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]


def main() -> None:
    """Live through the month, serve the memory, and take two pictures."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        sys.exit("There is no Chromium. Install one, as with `apt-get install chromium`.")
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"HOME": folder, "CURATE_CONFIG": os.devnull}
        Path(folder, ".gitconfig").write_text("[user]\nname = Tove Lind\nemail = tove@example.org\n")
        memory, user = Path(folder, "Tove"), load_user_settings(ANSWERS)
        live(
            read_month(HERE / "month"),
            ONE_BY_ONE,
            memory,
            lambda home, how, when: night_of(home, how, when, "", user),
            lambda *_: None,
        )
        entry = served(memory)
        items = (placed.item for one in read_documents(memory).values() for placed in one.items)
        ident = next(item.id for item in items if item.text == SHOWN)
        INTO.mkdir(exist_ok=True)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
            page = browser.new_page(viewport={"width": 1200, "height": 760})
            page.goto(entry)
            page.wait_for_url("http://127.0.0.1:*/")
            page.screenshot(path=INTO / "today.png")
            page.goto(f"{page.url}item/{ident}")
            page.screenshot(path=INTO / "item.png")
            browser.close()
    print(f"The pictures are in {INTO}.")


def served(memory: Path) -> str:
    """Serve a memory as on the morning after its month, and return the address that lets a browser in."""
    ready, entry = threading.Event(), [""]

    def opened(address: str) -> None:
        entry[0] = address
        ready.set()

    def serving() -> None:
        serve(memory, lambda words: run_verb(memory, words), lambda: MORNING, opened)

    threading.Thread(target=serving, daemon=True).start()
    ready.wait()
    return entry[0]


if __name__ == "__main__":
    main()
