"""The page in a real browser: by keyboard alone, without a script, on a narrow screen, and for everybody."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.store.lock import run_lock
from tests.asking import items
from tests.conftest import SERVED
from tests.view.browsing import HOSTILE, Browser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser as Chromium
    from playwright.sync_api import Dialog, Page

    from tests.conftest import Memory, Once

LOG = """project: Kestrel

- Decision: Use brass for the hinge.
- Todo: Oil the hinge (due 2026-03-16)
- Risk: The hinge may rust.
"""
STAYS = "This page stays as it is. Reload it to see what is new."
MANY = 14
RULE = "Never lift gate number {} alone."
GRAVE = {"serious", "critical"}
TALLEST_BUTTON = "Math.max(0, ...[...document.querySelectorAll('button')].map(one => one.offsetHeight))"
CUT = (
    "[...document.querySelectorAll('main *')].filter(one => one.getBoundingClientRect().right > innerWidth + 1).length"
)
NAME = """() => {
  const one = document.activeElement;
  return one === document.body ? "" : one.labels?.[0]?.innerText || one.innerText || "";
}"""


def live(memory: Memory) -> None:
    weights = "".join(f"- Fact: Gate number {number} weighs 4{number} kg.\n" for number in range(MANY))
    memory.day("2026-03-17", LOG + weights)
    rules = "".join(f"> Rule: {RULE.format(number)}\n\n" for number in range(MANY))
    memory.day("2026-03-18", f"project: Kestrel\n\n{rules}")


@pytest.fixture
def told(once: Once) -> Memory:
    """A memory in which something is due, held back by something, and asked about."""
    return once(live)


@contextmanager
def opened(chromium: Chromium, memory: Memory, *, ends: bool = False, **how: Any) -> Iterator[Page]:
    """Open the page as `curate view` does; what the browser complains of fails the test.

    Where the server ends meanwhile, a request that was on its way may be refused.
    """
    served = Browser(memory)
    with chromium.new_context(**how) as context:
        context.set_default_timeout(120_000)
        page = context.new_page()
        complaints: list[str] = []
        page.on("console", lambda said: complaints.append(said.text) if said.type in {"error", "warning"} else None)
        page.on("pageerror", lambda fault: complaints.append(str(fault)))
        page.goto(served.address)
        if how.get("java_script_enabled") is False:
            page.get_by_label("code").fill(served.code)
            page.get_by_role("button", name="Open").click()
        page.wait_for_url(f"http://{served.host}/")
        yield page
        assert not [one for one in complaints if not (ends and "ERR_CONNECTION_REFUSED" in one)]


def tab_to(page: Page, text: str) -> None:
    """Press Tab until what is called so has the focus."""
    for _ in range(200):
        page.keyboard.press("Tab")
        named = page.evaluate(NAME)
        if text in named:
            return
    pytest.fail(f"no key leads to {text}")


def wait_for(page: Page, text: str) -> None:
    page.get_by_role("status").filter(has_text=text).wait_for()
    page.wait_for_load_state()  # the script hears the next key


def test_a_morning_needs_the_keyboard_alone(chromium: Chromium, told: Memory) -> None:
    with opened(chromium, told) as page:
        tab_to(page, "Skip to the content")
        page.keyboard.type("gi")
        page.wait_for_url("**/inbox")
        page.keyboard.type("j")
        page.wait_for_url("**/inbox?at=*")
        page.get_by_text(f"2 of {MANY}").wait_for()
        page.keyboard.type("2")
        wait_for(page, "Drop it: “Never lift gate number 1 alone.”")
        page.keyboard.type("u")
        wait_for(page, "undone")
        page.keyboard.type("x2")
        wait_for(page, f"and {MANY - 1} more")
        page.get_by_text("Nothing waits for you.").wait_for()
        page.keyboard.type("gt")
        page.get_by_role("heading", name="Wednesday, 18 March 2026").wait_for()
        tab_to(page, "Oil the hinge")
        page.keyboard.press("Enter")
        page.wait_for_url("**/item/*")
        page.get_by_role("heading", name="Oil the hinge").wait_for()
        page.keyboard.type("e")
        page.locator("main input:focus").wait_for()
        page.keyboard.press("Control+A")
        page.keyboard.type("Oil both hinges")
        page.keyboard.press("Enter")
        wait_for(page, "Changed: “Oil the hinge”")
        assert items(told)["Oil both hinges"]["status"] == "open"
        page.keyboard.type("u")
        wait_for(page, "undone")
        page.keyboard.type("?")
        page.get_by_text("g t  Today").wait_for()
    assert items(told)["Oil the hinge"]["status"] == "open"
    assert "Oil both hinges" not in items(told)


def test_what_is_typed_stays_while_the_memory_changes(chromium: Chromium, told: Memory) -> None:
    with opened(chromium, told) as page:
        page.goto(page.url + "document/Projects/kestrel")
        row = page.locator("main li").filter(has_text="Use brass for the hinge.")
        row.get_by_text("Edit").click()
        row.get_by_label("Sentence").fill("Use steel for the hinge.")
        told.curate("done", "Oil", "--now", "2026-03-19T08:00")
        page.get_by_text(STAYS).wait_for()
        assert row.get_by_label("Sentence").input_value() == "Use steel for the hinge."
        row.get_by_role("button", name="Save").click()
        wait_for(page, "Changed: “Use brass for the hinge.”")
        told.curate("pin", "rust", "--now", "2026-03-19T08:00")
        page.locator("main li").filter(has_text="The hinge may rust.").get_by_text("pinned").wait_for()
        wait_for(page, "Changed: “Use brass for the hinge.”")


def test_a_chosen_page_stays_while_the_memory_changes(chromium: Chromium, told: Memory) -> None:
    with opened(chromium, told) as page:
        page.goto(f"{page.url}item/{items(told)['The hinge may rust.']['id']}")
        home = page.locator("[name=page]")
        home.select_option("USER.md")
        page.get_by_label("Sentence").focus()
        page.evaluate("document.activeElement.blur()")
        told.curate("done", "Oil", "--now", "2026-03-19T08:00")
        page.get_by_text(STAYS).wait_for()
        assert home.input_value() == "USER.md"


def test_who_acts_stays_where_they_are_on_a_long_page(chromium: Chromium, told: Memory) -> None:
    with opened(chromium, told) as page:
        page.goto(page.url + "items")
        page.get_by_label(f"Gate number {MANY - 1} weighs").check()
        height = page.evaluate("scrollY")
        assert height > 0
        page.get_by_role("button", name="Pin").click()
        wait_for(page, "Pinned:")
        assert page.evaluate("scrollY") == height


def test_on_a_phone_rows_are_whole_and_what_may_be_done_is_at_hand(chromium: Chromium, told: Memory) -> None:
    failed = {
        "run": "x",
        "now": "2026-03-18T01:00:00+00:00",
        "exit_code": 3,
        "error": {"sentence": "No " + "disk " * 40},
    }
    told.write(".curate/runs/x.json", json.dumps(failed))
    with opened(chromium, told) as page:
        home = page.url
        page.goto(home + "nights")
        assert page.evaluate(CUT) == 0
        page.set_viewport_size({"width": 390, "height": 740})
        assert page.evaluate(CUT) == 0
        page.goto(home + "items")
        assert page.evaluate(CUT) == 0
        pin = page.get_by_role("button", name="Pin")
        assert pin.is_hidden()
        for number in (0, 1):
            page.get_by_label(f"Gate number {number} weighs").check()
        box = pin.bounding_box()
        assert box
        assert box["y"] + box["height"] < 740
        pin.click()
        wait_for(page, "and 1 more")
        page.get_by_role("link", name="More").click()
        page.get_by_text("The last run ended well").wait_for()
        page.get_by_role("link", name="What agents read first").click()
        page.wait_for_url("**/agents")


def test_a_page_that_has_ended_says_so_and_sends_nothing(chromium: Chromium, told: Memory) -> None:
    with opened(chromium, told, ends=True) as page:
        with page.expect_response("**/events"):
            page.reload()
        SERVED[-1].should_exit = True  # as when nobody has looked at it for long
        page.get_by_text("This page has ended. Run curate view again.").wait_for()
        sent: list[str] = []
        page.on("request", lambda request: sent.append(request.url))
        page.get_by_role("link", name="Inbox").click(force=True)
        page.get_by_role("button", name="Done").first.click(force=True)
        page.keyboard.type("gi")
        page.evaluate("document.forms[0].requestSubmit()")
        page.evaluate("dispatchEvent(new Event('visibilitychange')), fetch('/the-last').catch(() => 0)")
        assert [address.rpartition("/")[2] for address in sent] == ["the-last"], "and that was the test's own"


def test_a_slash_leads_to_the_search_and_a_hit_to_its_line(chromium: Chromium, told: Memory) -> None:
    with opened(chromium, told) as page:
        page.keyboard.press("/")
        page.keyboard.type("gate weighs")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="gate weighs").wait_for()
        page.locator("main li").nth(10).wait_for()
        page.locator("main li small a").first.click()
        page.locator(".at mark").first.wait_for()
        assert page.locator(".at").first.is_visible()


def test_what_is_typed_is_searched_at_once_and_one_step_leads_back(chromium: Chromium, told: Memory) -> None:
    with opened(chromium, told) as page:
        home = page.url
        for key, shown in (("hin", "hin"), ("ge", "hinge"), (" oil", "hinge oil")):
            page.get_by_role("searchbox").press_sequentially(key)
            page.get_by_role("heading", name=shown, exact=True).wait_for()
        page.locator("main mark", has_text="hinge").first.wait_for()
        assert page.get_by_role("searchbox").input_value() == "hinge oil"
        assert page.url == f"{home}items?q=hinge%20oil"
        page.go_back()
        page.get_by_role("heading", name="Wednesday, 18 March 2026").wait_for()


def test_a_click_on_edit_or_in_a_filter_stops_neither_the_search_nor_news(chromium: Chromium, told: Memory) -> None:
    with opened(chromium, told) as page:
        home = page.url
        page.goto(home + "document/Projects/kestrel")
        page.locator("main li").filter(has_text="Use brass").get_by_text("Edit").click()
        page.get_by_label("Sentence").wait_for()
        page.get_by_role("searchbox").press_sequentially("hinge")
        page.get_by_role("heading", name="hinge", exact=True).wait_for()
        page.goto(home + "items")
        page.get_by_label("Type").select_option("Todo")
        page.get_by_role("searchbox").focus()
        told.curate("pin", "rust", "--now", "2026-03-19T08:00")
        page.locator("main li").filter(has_text="The hinge may rust.").get_by_text("pinned").wait_for()


def test_the_code_is_sent_by_hand_without_a_fault(chromium: Chromium, told: Memory) -> None:
    served = Browser(told)
    with chromium.new_context() as context:
        page, faults = context.new_page(), list[str]()
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        page.goto(served.address.partition("#")[0])
        page.get_by_label("code").fill(served.code)
        page.get_by_role("button", name="Open").click()
        page.wait_for_url(f"http://{served.host}/")
        assert faults == []


def test_a_page_is_previewed_saved_by_a_key_and_not_left_unasked(chromium: Chromium, told: Memory) -> None:
    with opened(chromium, told) as page:
        page.goto(page.url + "document/Projects/kestrel")
        page.keyboard.type("e")
        text = page.get_by_label("Markdown text")
        text.press_sequentially("x")
        text.fill(text.input_value().replace("Use brass", "Use *good* brass"))
        asked: list[str] = []

        def stay(dialog: Dialog) -> None:
            asked.append(dialog.type)
            dialog.dismiss()

        page.on("dialog", stay)
        with page.expect_event("dialog"):
            page.get_by_role("link", name="Inbox").click(no_wait_after=True)
        page.get_by_role("button", name="Preview").click()
        page.get_by_label("Preview").get_by_text("Use *good* brass").wait_for()
        assert asked == ["beforeunload"]
        assert "Use brass for the hinge." in items(told)
        page.wait_for_load_state()  # the script hears the key
        text.focus()
        page.keyboard.press("Control+s")
        wait_for(page, "Saved Projects/kestrel.md")
        assert asked == ["beforeunload"], "what is saved is left without a question"
    assert "Use *good* brass for the hinge." in items(told)


def test_what_takes_long_shows_a_bar_and_two_presses_are_one(chromium: Chromium, told: Memory) -> None:
    with opened(chromium, told) as page:
        note = "sessionStorage.bar = document.querySelector('progress.said').hidden"
        page.evaluate(f"addEventListener('pagehide', () => {{ {note}; }})")
        sent: list[str] = []
        page.on("request", lambda request: sent.extend([request.url] * (request.method == "POST")))
        page.get_by_role("region", name="Due").get_by_role("button", name="Done").dblclick()
        wait_for(page, "Done: “Oil the hinge”")
        assert page.evaluate("sessionStorage.bar") == "false"
        assert page.get_by_label("At work").is_hidden()
        assert len(sent) == 1


def test_a_night_that_goes_on_shows_a_bar(chromium: Chromium, told: Memory) -> None:
    with opened(chromium, told) as page:
        with run_lock(told.root, "curate run"):
            os.utime(told.root / ".curate/lock", (0, 0))  # as if it had begun long ago
            page.get_by_label("A run is at work").wait_for()
        page.get_by_text("The last run ended well").wait_for()


def test_no_script_is_needed(chromium: Chromium, told: Memory) -> None:
    with opened(chromium, told, java_script_enabled=False) as page:
        page.get_by_role("region", name="Due").get_by_role("button", name="Done").click()
        wait_for(page, "Done: “Oil the hinge”")
        page.get_by_role("link", name="Inbox").click()
        page.get_by_role("button", name="Keep it").click()
        wait_for(page, "Keep it: “Never lift gate number 0 alone.”")
    assert items(told)[RULE.format(0)]["trust"] == "owner"


def test_everybody_can_use_it(chromium: Chromium, told: Memory) -> None:
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    ident = items(told)["Use brass for the hinge."]["id"]
    paths = ("", "inbox", "document/Projects/kestrel", "edit/Projects/kestrel?preview=1", f"item/{ident}", "items",
             "night/20260318", "items?q=hinge", "nights", "agents", "file/Logs/2026-03-17.md?at=3")  # fmt: skip
    with opened(chromium, told, viewport={"width": 320, "height": 640}) as page:
        home = page.url
        for path in paths:
            page.goto(home + path)
            assert page.evaluate("document.documentElement.scrollWidth") <= 320, path
            assert page.evaluate(CUT) == 0, path
            assert page.evaluate(TALLEST_BUTTON) <= 48 or path == "inbox", path  # its words are on one line
            found = Axe().run(page).response["violations"]
            if path in paths[:5]:  # they have whatever has a colour
                page.emulate_media(color_scheme="dark")
                found += Axe().run(page, options={"runOnly": ["color-contrast"]}).response["violations"]
                page.emulate_media(color_scheme="light")
            assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in GRAVE] == [], path


def test_what_a_memory_says_runs_nothing(chromium: Chromium, memory: Memory) -> None:
    said = "".join(
        f"- Fact: The sign of shop {at} reads {text} here.\n\nAt shop {at}: {text}\n\n"
        for at, text in enumerate(HOSTILE)
    )
    memory.write("Areas/mine.md", f"# Mine\n\n{said}")
    memory.night("2026-03-18T02:00")
    ids = [one["id"] for one in items(memory).values()]
    with opened(chromium, memory) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        home = page.url
        for path in (
            "document/Areas/mine",
            "edit/Areas/mine",
            "items?q=sign",
            "file/Areas/mine.md",
            "agents",
            *(f"item/{one}" for one in ids[:3]),
        ):
            page.goto(home + path)
            assert page.title().endswith("memory")
            assert page.evaluate("window.owned") is None
        assert [url for url in asked if not url.startswith(home)] == []
        page.goto(home + "edit/Areas/mine")
        assert page.get_by_label("Markdown text").input_value() == memory.read("Areas/mine.md")


def test_it_can_be_printed(chromium: Chromium, told: Memory) -> None:
    with opened(chromium, told) as page:
        page.goto(page.url + "document/Projects/kestrel")
        page.emulate_media(media="print")
        assert page.get_by_text("Use brass for the hinge.").first.is_visible()
        assert not page.get_by_role("navigation").is_visible()
        assert not page.get_by_role("button", name="Add").is_visible()
