"""The pages show what the verbs print, and do what the verbs do, without a script."""

import json
import re
from html import unescape

import pytest

from pipelines.view.markup import changed, html_of
from tests.asking import ask, ask_contradict
from tests.conftest import Memory, Once
from tests.view.browsing import HOSTILE, Browser

LOG = """project: Kestrel

- Decision: Use brass for the hinge.
- Todo: Oil the hinge (due 2026-03-16)
- Risk: The hinge may rust.
- Fact: The gate weighs 40 kg.
"""


def a_night(memory: Memory) -> None:
    memory.day("2026-03-17", LOG)


@pytest.fixture
def told(once: Once) -> Memory:
    return once(a_night)


def ids(memory: Memory) -> dict[str, str]:
    return {one["text"]: one["id"] for one in memory.json("items")}


def words(page: str) -> str:
    """Return what a person reads of a page."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", page)).split())


def section(page: str, name: str) -> str:
    """Return the words of the section whose name begins so."""
    return words(page.partition(f'<section aria-label="{name}')[2].partition("</section>")[0].partition(">")[2])


def test_today_is_the_diff_of_the_night(told: Memory) -> None:
    told.day(
        "2026-03-18",
        "project: Kestrel\n\n- Correction: The gate weighs 45 kg, not 40 kg.\n- Done: Oil the hinge\n- Hm.\n"
        "- [ ] Todo: Sweep\n- Done: Sweep\n",
    )
    browser = Browser(told).enter()
    page = browser.get("/")
    night = section(page, "3 changes")
    assert "Wednesday, 18 March 2026" in page
    assert "The logs had 5 new lines, 1 of them not understood: 1 kept, 2 closed." in words(page)
    assert night.startswith("3 changes tomorrow 02:00")  # the test's clock is behind
    assert re.search(r"~ ?The gate weighs 40 45 kg\. Fact · Kestrel .*Correction: .*03-18.md:3 ", night)
    assert re.search(r"✓ ?Oil the hinge Todo · done today · Kestrel", night)
    assert re.search(r"<del>40</del> <ins>45</ins>", page)
    assert "The hinge may rust." in section(page, "Risks")
    line = re.findall(r'href="(/file/Logs/2026-03-18.md\?at=3-3)#L3"', page)[0]
    assert re.search(r'id="L3" class="at">.*Correction: The gate weighs 45 kg', browser.get(line))
    todo = ids(told)["Oil the hinge"]
    for verb, ident in (("undo --item", todo), ("retract", ids(told)["The gate weighs 45 kg."])):
        form = page.partition(f'name="id" value="{ident}"')[2].partition("</form>")[0]
        assert f'<button name="verb" value="{verb}"' in form
    page = browser.post("/do", verb="undo --item", id=todo, back="/")
    assert "Oil the hinge" in section(page, "Due")
    assert "Take back all" in page
    assert "“Oil the hinge” of run" in section(page, "You, since then")


def test_a_night_is_taken_back_and_brought_back_as_a_whole(told: Memory) -> None:
    browser = Browser(told).enter()
    page = browser.get("/")
    assert section(page, "4 changes").startswith("4 changes today 02:00")
    night = re.findall(r'href="(/night/[\w-]+)"[^>]*>Take back all 4…', page)[0]
    page = browser.get(night)
    assert "4 changes will be undone in one commit" in words(page)
    run = re.findall(r'name="id" value="(\d[\w-]+)">\s*<button name="verb" value="undo"', page)[0]
    page = browser.post("/do", verb="undo", id=run, back="/")
    assert "The gate weighs 40 kg." not in ids(told)
    assert "was undone" in section(page, "4 changes")
    assert "Undo brings it back" in words(page)
    undo = re.findall(r'name="id" value="([\w-]+)">\s*<button name="verb" value="undo"', page)[-1]
    browser.post("/do", verb="undo", id=undo, back="/")
    assert "The gate weighs 40 kg." in ids(told)


def test_last_night_is_not_the_last_click_and_old_dues_hide_none_of_todays(told: Memory) -> None:
    told.curate("pin", "Oil the hinge", "--now", "2026-03-18T07:00")
    rows = (
        f"- [ ] Todo: Old {at} <!-- k00000000{at:02} since=2026-01-01 due=2026-01-{at + 1:02} -->\n" for at in range(20)
    )
    told.write("Areas/old.md", f"# Old\n\n{''.join(rows)}")
    browser = Browser(told).enter()
    page = browser.get("/")
    assert section(page, "4 changes").startswith("4 changes today 02:00")
    assert "Pin" in section(page, "You")
    due = section(page, "Due")
    assert "Oil the hinge" in due
    assert due.count("overdue") == 8
    assert "13 more" in due
    listed = words(browser.get("/items?type=Todo"))
    assert "21 items" in listed
    assert all(f"Old {at} " in listed for at in range(20))


def test_the_frame_says_whose_memory_it_is_and_how_it_is(told: Memory) -> None:
    told.git("config", "user.name", "Ada Lind")
    told.git("config", "user.email", "ada@example.org")
    browser = Browser(told).enter()
    for path in ("/", "/nights", "/document/USER"):
        head, _, frame = map(words, browser.get(path).partition("</aside>")[0].partition('<aside id="frame">'))
        assert head.endswith("Skip to the content memory Ada Lind’s memory")
        assert frame.startswith("Today Inbox Items 4 Nights 1 More What agents read first ")
        assert "Review User Projects Kestrel 4 Days" in frame
        assert "Episodes" not in frame
        assert "The last run ended well, today 02:00" in frame
        assert "No run is scheduled" in frame
    failed = {
        "run": "x",
        "now": "2026-03-18T03:00:00+00:00",
        "exit_code": 3,
        "error": {"sentence": "The disk is full."},
    }
    told.write(".curate/runs/x.json", json.dumps(failed))
    page = Browser(told).enter().get("/")
    assert re.search(r'<p class="wrong">The last run failed, ', page)
    assert "The last run failed: The disk is full." in words(page)


def test_dead_nights_are_said_once_and_hide_neither_what_was_learnt_nor_what_waits(memory: Memory) -> None:
    memory.day("2026-03-15", LOG)
    ask(memory, "quiet", "1 open item", ("keep: it stays",))
    ask_contradict(memory, ids(memory)["The gate weighs 40 kg."], "The gate weighs 45 kg.")
    left = {"exit_code": 1, "model": {"failure": "claude is not logged in."}}
    night = {"run": "x", "now": "2026-03-18T02:00:00+00:00", **left}
    memory.write(".curate/runs/x.json", json.dumps(night))
    page = Browser(memory).enter().get("/")
    assert words(page).count("claude is not logged in.") == 1
    assert "No run has ended well since 16 Mar 02:00, 2 days ago." in words(page)
    assert section(page, "0 changes") == "0 changes today 02:00 · left something pending"
    assert "The hinge may rust." in section(page, "4 changes")
    waiting = section(page, "2 questions wait for you")
    assert re.search(r"The gate weighs 40 or 45 kg\. .*1 open item", waiting)


def test_what_agents_read_first_is_what_the_verb_prints(told: Memory) -> None:
    browser = Browser(told).enter()
    page = words(browser.get("/agents"))
    assert not (told.root / ".curate/start").exists(), "no session asked"
    printed = told.curate("context", "--now", "2026-03-18T08:00")
    for line in printed.splitlines():
        assert line.strip("=-# ").partition(" (")[0] in page, line
    assert re.search(r"Each session begins with this, \d{3} of 4,000 tokens", page)


def test_a_row_of_what_agents_read_is_pinned_where_it_stands_and_leads_to_its_page(told: Memory) -> None:
    browser, ident = Browser(told).enter(), ids(told)["The gate weighs 40 kg."]
    page = browser.post("/do", verb="pin", id=ident, back="/agents")
    assert re.search(r"The gate weighs 40 kg\..*? · pinned", words(page))
    assert '<a href="/file/SOUL.md">Who you are</a>' in page
    assert "Be direct" in browser.get("/file/SOUL.md")


def test_links_and_former_names_lead_on(told: Memory) -> None:
    told.write(
        "Areas/mine.md",
        "# Mine\n\n[it](../Projects/kestrel.md#L2), [log](../Logs/2026-03-17.md), [web](https://x.example/)\n",
    )
    told.curate("project", "rename", "Kestrel", "Falcon")
    browser = Browser(told).enter()
    page = browser.get("/document/Areas/mine")
    assert 'href="/file/Logs/2026-03-17.md"' in page
    assert 'href="https://x.example/"' in page
    assert 'href="/document/Projects/falcon#L2"' in page
    assert "Use brass for the hinge." in browser.get("/document/Projects/kestrel")
    assert 'href="/document/Projects/falcon"' in browser.get("/document/MEMORY")


def test_no_markdown_and_no_mark_of_a_run_is_shown_raw_and_what_is_left_out_is_counted(told: Memory) -> None:
    told.write("MEMORY.md", "# Memory\n\n- [Falcon](Projects/my%20falcon.md): it flies\n")
    for at in range(4):
        ask(told, "quiet", f"{at} open items", ("keep: it stays",))
    browser = Browser(told).enter()
    assert '<a href="/document/Projects/my%20falcon">Falcon</a>: it flies' in browser.get("/agents")
    assert section(browser.get("/"), "4 questions").startswith("4 questions wait for you 1 more")
    page = words(browser.get("/document/Review"))
    assert "0 open items Why" in page
    assert "☐ keep: it stays" in page


def test_comments_are_shown_but_the_mark_of_a_question() -> None:
    assert words(html_of("Do X <!-- review this with Eva -->")).startswith("Do X <!-- review this with Eva")
    assert words(html_of("## Keep it? <!-- review duplicate 2026-03-17 -->")) == "Keep it?"


def test_sentences_with_little_in_common_are_asked_about_as_wholes() -> None:
    old, new = "we decided to deploy the gate on Fly.io", "The gate is on Hetzner, not Fly.io"
    assert words(changed(old, new, is_asked=True)) == f"{old} or {new}"


def test_a_file_shows_its_lines_and_no_file_outside(told: Memory) -> None:
    told.write(
        "Logs/2026-03-18.md", "".join(f"- Line {at}\n" for at in range(1, 1001)) + "- key AKIAIOSFODNN7EXAMPLE\n"
    )
    browser = Browser(told).enter()
    page = browser.get("/file/2026-03-18?at=900-901&q=line")
    assert re.findall(r'id="L(\d+)" class="at"', page) == ["900", "901"]
    assert "- <mark>Line</mark> 900" in page
    assert "AKIA" not in browser.get("/file/2026-03-18?at=1001")
    turn = {"type": "user", "sessionId": "s1", "timestamp": "2026-03-18T07:00:00Z",
            "message": {"role": "user", "content": "The tide is high."}}  # fmt: skip
    told.write("Sessions/2026-03-18/claude-code-s1.jsonl", json.dumps(turn) + "\n")
    session = browser.get("/file/Sessions/2026-03-18/claude-code-s1.jsonl?at=1")
    assert re.search(r'id="L1" class="at">.*user: The tide is high\.', session)
    assert "sessionId" not in session
    for path in ("../curate.toml", "/etc/passwd", ".curate/index.db", "curate.toml", "Logs/none.md", "%2e%2e/x.md"):
        assert "root:" not in browser.get(f"/file/{path}", 404)


def test_settings_that_were_broken_meanwhile_are_told_as_such(told: Memory) -> None:
    browser = Browser(told).enter()
    told.write("curate.toml", "timezone = [")
    page = browser.get("/", 500)
    assert "That did not work" in page
    assert "curate.toml" in page


def test_an_item_says_what_the_verbs_say(told: Memory) -> None:
    browser, ident = Browser(told).enter(), ids(told)["Use brass for the hinge."]
    page, why = browser.get(f"/item/{ident}"), told.json("why", ident)
    for place in why["evidence"]:
        assert f"{place['path']}:{place['start_line']}" in page
        assert place["quote"] in page
    assert 'id="2026-03-17"' in browser.get("/document/Episodes/2026-03")
    assert "No item has the id kfffffff." in browser.get("/item/kfffffff", 404)


def test_a_log_that_was_edited_by_hand_counts_at_once(told: Memory) -> None:
    browser, item = Browser(told).enter(), f"/item/{ids(told)['Use brass for the hinge.']}"
    for tide in ("high", "low"):
        told.write("Logs/2026-03-18.md", f"- The tide is {tide}.\n")
        assert f"The tide is {tide}." in browser.get("/agents")
    assert "Decision: Use brass" in section(browser.get(item), "Where it was said")
    told.write("Logs/2026-03-17.md", LOG.replace("Use brass", "Use zinc"))
    assert "The words are no longer there." in section(browser.get(item), "Where it was said")


def test_a_document_is_shown_as_people_read_it(told: Memory) -> None:
    told.curate("done", "Oil", "--now", "2026-03-18T08:00")
    told.write("Projects/kestrel.md", told.read("Projects/kestrel.md") + "\nMy *own* words.\n")
    page = Browser(told).enter().get("/document/Projects/kestrel")
    assert "<em>own</em>" in page
    assert re.search(r"<s>Oil the hinge</s>", page)
    assert re.search(r"Last decision \(yesterday\): Use brass for the hinge\.\s+<a href=\"/item/", page)
    assert "<!--" not in page


def test_code_is_shown_as_code_and_what_it_says_is_escaped(told: Memory) -> None:
    sentence = "Ship with `make <b>all</b>` & **care**, see [it](javascript:x)."
    told.curate("add", "Rule", sentence, "--document", "Projects/kestrel", "--now", "2026-03-18T07:00")
    browser, shown = (
        Browser(told).enter(),
        "<code>make &lt;b&gt;all&lt;/b&gt;</code> &amp; **care**, see [it](javascript:x).",
    )
    for path in ("/items", "/agents", "/document/Projects/kestrel", f"/item/{ids(told)[sentence]}"):
        assert f"Ship with {shown}" in browser.get(path), path
    found = browser.get("/items?q=ship+make")
    assert "<mark>Ship</mark> with <code><mark>make</mark> &lt;b&gt;" in found


def test_a_form_does_what_the_verb_does(told: Memory) -> None:
    browser, found = Browser(told).enter(), ids(told)
    todo, decision = found["Oil the hinge"], found["Use brass for the hinge."]
    page = browser.post("/do", verb="done", id=todo, back=f"/item/{todo}")
    assert "Done: “Oil the hinge” Undo" in words(page)
    assert "Reopen" in page
    browser.post("/do", verb="correct", id=decision, text="Use steel for the hinge.", back=f"/item/{decision}")
    life = section(browser.get(f"/item/{ids(told)['Use steel for the hinge.']}"), "Its life")
    assert re.fullmatch("Its life ?brass for the hinge. since .* → steel for the hinge. since .*", life)
    statuses = {one["text"]: one["status"] for one in told.json("items")}
    assert statuses["Oil the hinge"] == "done"
    assert (statuses["Use brass for the hinge."], statuses["Use steel for the hinge."]) == ("superseded", "live")
    told.curate("undo")
    statuses = {one["text"]: one["status"] for one in told.json("items")}
    assert statuses["Use brass for the hinge."] == "live"
    assert told.git("status", "--porcelain") == ""


def test_what_was_done_is_said_in_the_tab_where_it_was_done(told: Memory) -> None:
    browser = Browser(told).enter()
    own = {"Cookie": browser.cookie, "Sec-Fetch-Site": "same-origin", "Origin": f"http://{browser.host}"}
    token = re.findall(r'name="token" value="([^"]+)"', browser.get("/"))[0]
    browser.ask("POST", "/do", own, f"token={token}&verb=done&id={ids(told)['Oil the hinge']}")
    other = browser.ask("GET", "/", {**own, "X-Beside": "1"})[1]
    assert "Oil the hinge" not in section(other, "Due")
    assert "Done: “Oil the hinge”" not in words(other)
    assert "Done: “Oil the hinge”" in words(browser.get("/"))


def test_a_question_shows_what_differs_and_its_answer_can_be_undone(told: Memory) -> None:
    ask_contradict(told, ids(told)["The gate weighs 40 kg."], "The gate weighs 45 kg.")
    told.night("2026-03-19T02:00")
    browser, (one,) = Browser(told).enter(), told.json("review")
    page = browser.get("/inbox")
    assert re.search(r"<mark>40</mark> <span>or</span> <mark>45</mark>", page)
    for answer in ("New is right", "Old is right", "Both, of different things", "Neither"):
        assert answer in words(page)
    fields = {"verb": "review", "id": one["id"], "was": one["items"][0]["text"], "back": "/inbox"}
    page = words(browser.post("/do", **fields, choice="neither"))
    assert "Neither: “The gate weighs 45 kg.” Undo" in page
    assert "Nothing waits for you." in page
    held = {one["text"]: one["status"] for one in told.json("items")}
    assert (held["The gate weighs 40 kg."], held.get("The gate weighs 45 kg.")) == ("never-held", None)
    told.curate("undo")
    browser.post("/do", **fields, choice="keep new")
    held = {one["text"]: one["status"] for one in told.json("items")}
    assert (held["The gate weighs 40 kg."], held["The gate weighs 45 kg."]) == ("superseded", "live")


def test_those_like_it_are_decided_in_one_commit_with_one_undo(told: Memory) -> None:
    told.day("2026-03-18", "".join(f"> Rule: Never lift gate {n} alone.\n\n" for n in range(32)))
    browser, head = Browser(told).enter(), told.git("rev-list", "--count", "HEAD")
    page = browser.get("/inbox")
    assert "The same for the 31 like it" in words(page)
    also = re.findall(r'name="also" value="([^"]+)"', page)[0]
    first = re.findall(r'name="id" value="([^"]+)"', page)[0]
    page = words(browser.post("/do", verb="review", id=first, also=also, was="Never lift gate 0 alone.", choice="drop"))
    assert "Drop it: “Never lift gate 0 alone.” and 31 more Undo" in page
    assert told.json("review") == []
    assert int(told.git("rev-list", "--count", "HEAD")) == int(head) + 1
    told.curate("undo")
    assert len(told.json("review")) == 32


def test_the_marked_items_of_the_table_are_changed_at_once(told: Memory) -> None:
    browser, found = Browser(told).enter(), ids(told)

    def shown(sort: str) -> list[str]:
        return re.findall(r'name="id" value="(\w+)"', browser.get(f"/items?sort={sort}"))

    assert shown("")[0] == found["Oil the hinge"]  # the only one with a day
    assert {*shown("since")} == {*shown("oldest")} == {*found.values()}
    assert "1 item" in words(browser.get("/items?due=overdue"))
    assert "Nothing was found." in browser.get("/items?status=done")
    both = f"{found['Use brass for the hinge.']} {found['The gate weighs 40 kg.']}"
    told.write("Areas/yard.md", "# Yard\n")
    assert "and 1 more Undo" in words(browser.post("/do", verb="move", id=both, page="Areas/yard", back="/items"))
    assert all(told.read("Areas/yard.md").count(one) == 1 for one in both.split())
    assert "Over: “" in words(browser.post("/do", verb="close", id=both, back="/items"))
    assert "2 items" in words(browser.get("/items?status=ended"))


def test_a_sentence_its_day_and_its_page_are_changed_where_they_stand(told: Memory) -> None:
    browser, ident = Browser(told).enter(), ids(told)["Oil the hinge"]
    form = browser.get(f"/item/{ident}")
    assert 'value="2026-03-16"' in form
    told.write("Areas/yard.md", "# Yard\n")
    fields = {"id": ident, "was": "Oil the hinge", "back": "/"}
    assert "Moved: “Oil the hinge” Undo" in words(browser.post("/do", verb="move", **fields, page="Areas/yard"))
    page = browser.post("/do", verb="correct", **fields, text="Oil both hinges", due="2026-04-02")
    assert "Changed: “Oil the hinge” Undo" in words(page)
    assert "Todo: Oil both hinges (due 2026-04-02) ^" in told.read("Areas/yard.md")


def test_an_item_is_put_last_in_what_agents_read(told: Memory) -> None:
    browser, ident = Browser(told).enter(), ids(told)["The hinge may rust."]
    page = browser.post("/do", verb="set last", id=ident, was="The hinge may rust.", back="/agents")
    assert "Comes last: “The hinge may rust.” Undo" in words(page)
    assert "comes last" in words(page)
    context = told.curate("context", "--now", "2026-03-18T08:00")
    assert context.index("Oil the hinge") < context.index("The hinge may rust.", context.index("Oil the hinge"))
    browser.post("/do", verb="set usual", id=ident, back="/agents")
    assert "comes last" not in browser.get("/agents")


def test_a_new_memory_shows_three_steps(memory: Memory) -> None:
    page = words(Browser(memory).enter().get("/"))
    for step in ("Connect an agent", "Choose who reads", "Let the first night run", "No agent is connected.",
                 "curate demo"):  # fmt: skip
        assert step in page


def test_a_document_is_edited_and_checked_before_it_is_saved(told: Memory) -> None:
    browser, path = Browser(told).enter(), "/edit/Projects/kestrel"
    base = told.read("Projects/kestrel.md")
    broken = base.replace("- Fact", "```\n- Fact", 1)
    back = {"back": "/document/Projects/kestrel", "base": base.replace("\n", "\r\n")}
    page = browser.answered(path, **back, text=broken.replace("\n", "\r\n"))
    assert "where no item can be" in page
    assert broken in unescape(page)
    assert told.read("Projects/kestrel.md") == base
    page = browser.post(path, **back, text=(base + "Built in 1987.\n").replace("\n", "\r\n"))
    assert "Saved Projects/kestrel.md (commit" in page
    assert "Built in 1987." in page
    assert told.read("Projects/kestrel.md").endswith("Built in 1987.\n")
    assert "There is no document" in browser.get("/edit/Projects/nothing", 404)
    assert "is not there any more" in browser.answered("/edit/Projects/nothing", **back, text="x")


def test_what_depends_on_an_item_is_listed(told: Memory) -> None:
    found = ids(told)
    ground = found["The gate weighs 40 kg."]
    told.amend("Use brass for the hinge.", because=ground)
    page = Browser(told).enter().get(f"/item/{ground}")
    assert re.search(r"What depends on it</a></h2>.*Use brass for the hinge", page, re.DOTALL)


def test_a_search_finds_what_the_verb_finds(told: Memory) -> None:
    browser = Browser(told).enter()
    page = browser.get("/items?q=hinge+rust")
    found = [one["text"] for one in told.json("search", "hinge rust")["results"]]
    assert found[0] == "Risk: The hinge may rust."
    assert found[0] in words(page)
    assert re.findall(r'href="(/file/Projects/kestrel.md\?at=\d+-\d+&q=hinge%20rust)#L\d+"', unescape(page))
    assert words(browser.get("/items?type=Risk")).count("The hinge may rust.") == 1


def test_more_shows_all_that_a_search_finds(memory: Memory) -> None:
    memory.day("2026-03-17", "".join(f"- Fact: Gate {number} is made of oak.\n" for number in range(30)))
    browser = Browser(memory).enter()
    shown = [browser.get("/items?q=gate+oak")]
    while more := re.findall(r'href="(\?[^"]+)"[^>]*>More<', shown[-1]):
        shown.append(browser.get(f"/items{unescape(more[0])}"))
    assert len(set(re.findall(r"Gate \d+", words(shown[0])))) <= 25
    assert len(shown) > 1
    assert all(f"Gate {number} is made of oak." in words(shown[-1]) for number in range(30))


def test_a_note_beside_what_was_found_does_no_harm(told: Memory) -> None:
    told.write(".curate/index.db", "no index")
    assert "Risk: The hinge may rust." in words(Browser(told).enter().get("/items?q=hinge+rust"))


def test_a_verb_that_no_form_offers_is_not_run(told: Memory) -> None:
    browser = Browser(told).enter()
    todo = ids(told)["Oil the hinge"]
    for verb in ("run", "init", "forget --yes", "../done", ""):
        assert "no form asks for that" in browser.post("/do", verb=verb, id=todo, back=f"/item/{todo}")
    assert "Usage: curate done [OPTIONS]" not in browser.post("/do", verb="done", id="--help", back=f"/item/{todo}")
    assert told.json("items", "--status", "done") == []


def test_what_a_memory_says_is_shown_and_never_obeyed(memory: Memory) -> None:
    said = [f"The sign of shop {number} reads {text} here." for number, text in enumerate(HOSTILE)]
    memory.write("Logs/2026-03-17.md", "".join(f"- Fact: {one}\n" for one in said))
    mine = "".join(f"{one}\n\n- Fact: On my page, {one}\n\n" for one in said)
    memory.write("Areas/mine.md", f"# Mine\n\n{mine}")
    memory.night("2026-03-18T02:00")
    browser = Browser(memory).enter()
    paths = ("/", "/nights", "/document/Areas/mine", "/document/MEMORY", "/items?q=sign")
    pages = [browser.get(path) for path in paths]
    for page in pages:
        assert not re.search(r"<(?:script>|img|svg onload|iframe|b>bold)|href=\"(?:javascript|data):|\u202e", page)
        assert "reads 49 here" not in page
    assert all(f"shop {number} reads" in pages[2] for number in range(len(HOSTILE)))


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (("Use brass", "Use steel"), ("Use brass", "Use zinc")),
        (("- Decision: Use brass for the hinge.", "- ~~Decision: Use brass for the hinge.~~"), ("brass", "zinc")),
        (("title: Kestrel", "title: Kestrel One"), ("title: Kestrel", "title: Kestrel Two")),
    ],
)  # fmt: skip
def test_two_edits_of_one_line_are_both_shown_and_neither_is_saved(
    told: Memory, mine: tuple[str, str], theirs: tuple[str, str]
) -> None:
    browser, path = Browser(told).enter(), "/edit/Projects/kestrel"
    base = told.read("Projects/kestrel.md")
    text, there = base.replace(*mine, 1), base.replace(*theirs, 1)
    told.write("Projects/kestrel.md", there)
    page = unescape(browser.answered(path, back="/document/Projects/kestrel", base=base, text=text))
    assert "changed meanwhile" in page
    assert "<<<<<<< your text" in page
    assert ">>>>>>> on disk" in page
    changed = {*text.splitlines(), *there.splitlines()} - {*base.splitlines()}
    assert changed
    assert all(line in page for line in changed), "nothing of either is lost"
    assert told.read("Projects/kestrel.md") == there
    marked = page.split('<textarea id="text"')[1].split(">\n", 1)[1].split("</textarea>")[0]
    page = browser.answered(path, back="/document/Projects/kestrel", base=there, text=marked)
    assert "has marks of a conflict" in page
    assert told.read("Projects/kestrel.md") == there
    page = browser.post(path, back="/document/Projects/kestrel", base=there, text=text)
    assert "Saved Projects/kestrel.md" in page
    assert told.read("Projects/kestrel.md") != there


def test_a_deletion_and_an_edit_of_one_line_are_both_shown(told: Memory) -> None:
    browser, path = Browser(told).enter(), "/edit/Projects/kestrel"
    base = told.read("Projects/kestrel.md")
    line = next(line for line in base.splitlines(keepends=True) if "Use brass" in line)
    told.write("Projects/kestrel.md", base.replace(line, ""))
    text = base.replace("Use brass", "Use steel")
    page = unescape(browser.answered(path, back="/document/Projects/kestrel", base=base, text=text))
    assert "<<<<<<< your text\n- Decision: Use steel" in page


@pytest.mark.parametrize("verb", ["correct", "close", "retract", "pin"])
def test_a_form_on_an_item_that_changed_meanwhile_does_nothing_and_says_both(told: Memory, verb: str) -> None:
    browser, ident = Browser(told).enter(), ids(told)["Use brass for the hinge."]
    fields = {"verb": verb, "id": ident, "back": f"/item/{ident}", "text": "Use steel for the hinge."}
    assert 'name="was" value="Use brass for the hinge."' in browser.get(f"/item/{ident}")
    told.write("Projects/kestrel.md", told.read("Projects/kestrel.md").replace("Use brass", "Use zinc"))
    before = told.read("Projects/kestrel.md")
    page = unescape(browser.post("/do", **fields, was="Use brass for the hinge."))
    assert "It changed meanwhile, so nothing was done. It says now: “Use zinc for the hinge.”" in page
    assert "You wrote: “Use steel for the hinge.”" in page
    assert told.read("Projects/kestrel.md") == before


def test_what_was_typed_for_an_item_that_is_over_meanwhile_is_shown(told: Memory) -> None:
    browser, old = Browser(told).enter(), "Use brass for the hinge."
    ident = ids(told)[old]
    told.curate("correct", ident, "Use zinc for the hinge.", "--now", "2026-03-18T09:00")
    fields = {"id": ident, "was": old, "text": "Use steel for the hinge.", "back": f"/item/{ident}"}
    page = unescape(browser.post("/do", verb="correct", **fields))
    assert "You wrote: “Use steel for the hinge.”" in page
    assert "Use steel for the hinge." not in ids(told)


def test_an_answer_to_a_question_that_changed_meanwhile_does_nothing(told: Memory) -> None:
    line = "- Rule: Obey the printer. <!-- kaaaaaaaaaa since=2026-03-01 trust=owner confidence=high -->\n"
    told.write("Areas/pasted.md", f"# Pasted\n\n{line}")
    told.night("2026-03-19T02:00")
    browser = Browser(told).enter()
    told.write("Review.md", told.read("Review.md").replace("Obey the printer", "Obey the scanner"))
    fields = {
        "verb": "review",
        "id": "kaaaaaaaaaa",
        "choice": "keep",
        "was": "Obey the printer.",
        "text": "Obey the cat.",
    }
    page = unescape(browser.post("/do", back="/inbox", **fields))
    assert "It says now: “Obey the scanner.”. You wrote: “Obey the cat.”." in page
    assert told.row("Obey the scanner")["status"] == "waiting"


def test_a_day_in_the_words_of_an_item_stays_as_it_was_written(told: Memory) -> None:
    told.curate("add", "Todo", "Pay the bill by 2026-03-20 (due 2026-03-20)", "--document", "Projects/kestrel.md")
    told.curate("close", "The hinge may rust", "--as", "resolved", "--now", "2026-03-18T09:00")
    page = words(Browser(told).enter().get("/document/Projects/kestrel"))
    assert "Pay the bill by 2026-03-20" in page.partition("Decisions")[0]
    assert "by in" not in page


def test_what_agents_read_first_has_no_secret_on_the_page_either(told: Memory) -> None:
    told.write("USER.md", "# User\n\n- The staging server has password: Hunter2xyzzy9! for now\n")
    page = Browser(told).enter().get("/agents")
    assert "staging server" in page
    assert "Hunter2" not in page
