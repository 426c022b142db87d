"""Now, State and episodes: what a model says is checked, what fails is dropped, and code writes what is missing."""

from typing import Any

import pytest

from pipelines.store.snapshot import read_documents
from pipelines.usage import FailureKind
from tests.asking import items
from tests.conftest import Memory
from tests.reviewing import ALPHA, DAY, Reader, curate, item, labelled, log, reply, verdict_of

EPISODES = "Episodes/2026-03.md"
ITEMS = (
    "Decision: Orders move to PostgreSQL 16.", "Todo: Ask legal about the DPA.",
    "Risk: The import might lose orders.", *(f"Fact: Shelf number {n} is full." for n in range(10)),
)  # fmt: skip
Asked = dict[str, Any]


def told(memory: Memory, path: str, title: str) -> list[str]:
    """Return the lines below a heading, without the machine's marks."""
    section = memory.read(path).partition(f"## {title}\n")[2].partition("\n## ")[0]
    return [line.partition(" <!--")[0] for line in section.splitlines() if line]


def ids(rows: list[Asked]) -> dict[str, str]:
    """Return text → id of the items that a request shows."""
    return {row["text"]: row["id"] for row in rows}


def writes(text: str, *cited: str, episode: str = "", now: str = "") -> Reader:
    """Return a model that says one sentence of each page, one of MEMORY.md and one of each day.

    What it writes of a page and of MEMORY.md cites items by their texts; what it tells of a day rests on all its lines.
    """

    def written(asked: Asked) -> Asked:
        def sentence(said: str, rows: list[Asked]) -> list[Asked]:
            known = ids(rows)
            return [{"text": said, "ids": [known.get(one, one) for one in cited]}] if said else []

        pages = asked["pages"]
        rows = [row for one in pages for row in one["items"]] + asked["now"]["items"]
        states = [{"id": one["id"], "sentences": sentence(text, one["items"])} for one in pages]
        return {"now": sentence(now, rows), "states": states}

    def read(day: Asked) -> Asked:
        rows = day["entries"]
        places = [[rows[0]["line"], rows[-1]["end_line"]]]
        return reply(*labelled(day), episode=[{"text": episode, "lines": places}] if episode else [])

    return Reader(reads=read, writes=written)


MOVE = "Orders move to PostgreSQL 16."


def test_now_may_rest_on_an_episode_and_on_none_that_was_not_shown(memory: Memory) -> None:
    log(memory, ITEMS[0])
    model = writes("", episode="The move to PostgreSQL 16 was settled.")
    rows = [
        {"text": "The database moves to another product.", "ids": [], "days": [DAY]},
        {"text": "The yard floods.", "ids": [], "days": ["2026-03-11"]},
        {"text": "The yard is dry.", "ids": [], "days": []},
    ]
    model.writes = lambda _: {"now": rows, "states": []}
    curate(memory, model)
    assert told(memory, "MEMORY.md", "Now") == [rows[0]["text"]]
    log(memory, "Fact: The shop is in Bern.", day="2026-03-20")
    rows[0]["text"] = "The database moves."
    curate(memory, model, "2026-03-21T02:00+00:00")
    assert told(memory, "MEMORY.md", "Now") == [rows[0]["text"]]
    claims = [one for call in model.claims for one in call if one["text"].startswith("The database moves")]
    assert [(one["quotes"], one["context"]) for one in claims] == [
        ([f"- {ITEMS[0]}"], [f"what happened on {DAY}, {DAY}, project Alpha"]),
        (["The move to PostgreSQL 16 was settled."], [f"what happened on {DAY}"]),
    ], "of a day that was just read, the reader sees the lines: no page has its episode yet"


def test_a_sentence_rests_on_what_was_shown_of_it_and_the_second_reader_is_asked(memory: Memory) -> None:
    log(memory, ITEMS[0])
    model = writes("", MOVE, "kfffffff", now="The database moves to another product.")
    curate(memory, model)
    (claim,) = [one for call in model.claims for one in call if one["text"].startswith("The database moves")]
    assert claim["quotes"] == [MOVE]
    assert told(memory, "MEMORY.md", "Now") == ["The database moves to another product."]


def test_what_rests_on_a_day_alone_leaves_the_first_part_with_the_day_though_no_model_reads_any_more(
    memory: Memory,
) -> None:
    log(memory, ITEMS[0])
    model = writes("", episode="The move to PostgreSQL 16 was settled.")
    row = {"text": "The database moves to another product.", "ids": [], "days": [DAY]}
    model.writes = lambda _: {"now": [row], "states": []}
    curate(memory, model)
    for day in ("2026-03-20", "2026-03-21", "2026-03-22"):
        assert told(memory, "MEMORY.md", "Now") == [row["text"]]
        log(memory, f"Fact: It rained on {day}.", day=day)
        memory.curate("run", "--provider", "rules", "--now", f"{day}T23:30")
    assert told(memory, "MEMORY.md", "Now") == []


def test_what_waits_for_the_user_is_told_by_the_item_in_question(memory: Memory) -> None:
    for text in ("The shop is in Bern.", "The shop moved to Basel."):
        memory.curate("add", "Fact", text, "--document", "Alpha")
    ident, new = (items(memory)[text]["id"] for text in ("The shop is in Bern.", "The shop moved to Basel."))
    memory.curate("settle", new, "replaces", ident)
    log(memory, ITEMS[0])
    model = writes("")
    asked: list[str] = []

    def written(data: Asked) -> Asked:
        asked.extend(data["now"]["waits"])
        return {"now": [{"text": "You are asked about Bern.", "ids": [asked[0].split()[0]]}], "states": []}

    model.writes = written
    curate(memory, model)
    assert asked[0] == f"{ident} ended: The shop is in Bern."
    [claim] = [one for call in model.claims for one in call if one["text"] == "You are asked about Bern."]
    assert "a question about it waits for the user" in claim["context"][0]
    assert told(memory, "MEMORY.md", "Now") == ["You are asked about Bern."]


def test_decisions_do_not_crowd_what_is_open_out_of_the_brief(memory: Memory) -> None:
    many = [
        f"- Decision: Berth {n} gets {'the widest of all ' * 4}rings. <!-- k{n:08x} since=2026-03-18 -->"
        for n in range(60)
    ]
    memory.write("Areas/quay.md", "\n".join(["# Quay", "", *many, ""]))
    memory.write("Areas/home.md", f"# Home\n\n- [ ] Todo: Paint the fence. <!-- kaaaaaaa1 since={DAY} -->\n")
    memory.curate("run", "--provider", "rules", "--now", f"{DAY}T12:00")
    log(memory, ITEMS[0])
    shown: list[str] = []

    def seen(asked: Asked) -> Asked:
        shown.extend(one["text"] for one in asked["now"]["items"])
        return {"now": [], "states": []}

    model = writes("")
    model.writes = seen
    curate(memory, model)
    assert "Paint the fence." in shown
    assert any("Berth" in one for one in shown)


def test_a_page_shows_how_each_thing_ended_and_what_its_state_rests_on(memory: Memory) -> None:
    ended = ("[x] Todo: Paint the gate. <!-- kaaaaaaa1", "[ ] Todo: Show Ines the yard. <!-- kaaaaaaa2")
    todos = "".join(f"- {one} since=2026-03-02 on=2026-03-10 -->\n" for one in ended)
    many = (f"- Rule: {'Paint it with care. ' * 4}{n}\n" for n in range(50))
    green = "- Fact: The paint is green. <!-- kaaaaaaa3 since=2026-01-02 -->\n"
    memory.write("Projects/alpha.md", f"# Alpha\n\n{green}{todos}")
    shown: list[Asked] = []

    def seen(asked: Asked) -> Asked:
        shown.extend(page for page in asked["pages"] if page["title"] == "Alpha")
        cited = [one["id"] for one in shown[-1]["items"] if one["text"] == "The paint is green."]
        return {"now": [], "states": [{"id": shown[-1]["id"], "sentences": [{"text": "All is green.", "ids": cited}]}]}

    model = writes("")
    model.writes = seen
    log(memory, "Fact: The shed is dry.")
    curate(memory, model)
    assert {row["text"]: row["status"] for row in shown[0]["items"]}["Paint the gate."] == "done"
    assert {row["text"]: row["status"] for row in shown[0]["items"]}["Show Ines the yard."] == "passed"
    page = memory.read("Projects/alpha.md")
    memory.write("Projects/alpha.md", page.replace("# Alpha\n", f"# Alpha\n\n{''.join(many)}", 1))
    log(memory, "Fact: The shed is wet.", day="2026-03-20")
    curate(memory, model, "2026-03-21T02:00+00:00")
    assert "The paint is green." in [row["text"] for row in shown[-1]["items"]]


def test_a_sentence_that_rests_on_a_day_brings_the_lines_nearest_to_it_and_not_the_day(memory: Memory) -> None:
    log(
        memory,
        *(f"Fact: The {thing} was repaired." for thing in ("mast", "keel", "rudder", "anchor", "winch", "galley")),
    )
    model = writes("", episode="All of the boat was repaired.")
    model.writes = lambda _: {"now": [{"text": "The galley is whole again.", "ids": [], "days": [DAY]}], "states": []}
    curate(memory, model)
    [claim] = [one for call in model.claims for one in call if one["text"].startswith("The galley")]
    assert "- Fact: The galley was repaired." in claim["quotes"]
    assert len(claim["quotes"]) == 4


BAD = (
    "PostgreSQL 97 takes the orders.", "Orders move to PostgreSQL 16 on 2031-05-01.", "# Orders move to PostgreSQL 16.",
    "- Decision: Orders move to PostgreSQL 16.", "Orders move to PostgreSQL 16. <!-- k1 -->",
    "Orders move to PostgreSQL 16, and the key is sk-ant-api03-" + "a1B2c3D4" * 12, "x" * 401,
)  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_what_code_can_see_to_be_wrong_is_dropped_and_asks_no_second_reader(memory: Memory, text: str) -> None:
    log(memory, *ITEMS)
    model = writes(text, MOVE, now=text)
    curate(memory, model)
    assert told(memory, ALPHA, "State")[0] == f"Last decision ({DAY}): {MOVE}"
    assert told(memory, "MEMORY.md", "Now") == []
    assert not [one for call in model.claims for one in call if one["kind"] == "sentence"]


@pytest.mark.parametrize("what", ["#12", "`orders.py`", "„Orders“"])
def test_a_sentence_may_begin_with_an_issues_number_code_or_a_quotation(memory: Memory, what: str) -> None:
    log(memory, f"Decision: {what} moves to PostgreSQL 16.", *ITEMS[1:])
    said = f"{what} is moved to PostgreSQL 16."
    curate(memory, writes(said, f"{what} moves to PostgreSQL 16.", episode=said, now=said))
    log(memory, "Fact: The mast was repaired.", day="2026-03-20")
    memory.curate("run", "--provider", "rules", "--now", "2026-03-21T02:00")
    for page, title in ((ALPHA, "State"), (EPISODES, DAY), ("MEMORY.md", "Now")):
        assert said in told(memory, page, title)


def test_an_episode_is_checked_as_well(memory: Memory) -> None:
    log(memory, *ITEMS)
    curate(memory, writes("", episode=BAD[5]))
    assert "sk-ant" not in memory.read(EPISODES)


@pytest.mark.parametrize("verdict", ["unsupported", "unsure"])
def test_a_sentence_of_another_sense_is_dropped(memory: Memory, verdict: str) -> None:
    log(memory, *ITEMS)
    model = writes(
        "PostgreSQL 16 waits.", MOVE, episode="PostgreSQL 16 waits for orders.", now="PostgreSQL 16 waits on."
    )
    model.verifies = lambda one: verdict if "waits" in one["text"] else verdict_of(one)
    curate(memory, model)
    of_brief = [one for call in model.claims for one in call if "waits" in one["text"] and one["quotes"] == [MOVE]]
    assert {one["kind"] for one in of_brief} == {"sentence"}
    assert of_brief[0]["context"] == [f"live Decision of Alpha since {DAY}"]
    assert "waits" not in memory.read(ALPHA) + memory.read(EPISODES) + memory.read("MEMORY.md")
    assert told(memory, ALPHA, "State")[0] == f"Last decision ({DAY}): {MOVE}"


def test_what_is_unsure_is_told_as_that(memory: Memory) -> None:
    log(memory, "Orders will then move over, to PostgreSQL 16.")
    model = writes("", MOVE, now="The move to PostgreSQL 16 is decided.")
    model.reads = lambda day: reply(item("Decision", MOVE, day["entries"][0]))
    model.verifies = lambda one: "unsure" if one["kind"] == "item" else "supported"
    curate(memory, model)
    assert "The move" not in memory.read("MEMORY.md"), "the second reader doubts this night what the sentence rests on"
    assert "Orders move to PostgreSQL 16 (unsure)." in memory.read("MEMORY.md")
    log(memory, "Decision: The shop is in Bern.", day="2026-03-20")
    model = writes("", f"{MOVE} (unsure)", now="The move to PostgreSQL 16 may be decided.")
    model.reads = lambda day: reply(*labelled(day, confidence="low"))
    curate(memory, model, "2026-03-21T02:00+00:00")
    assert told(memory, "MEMORY.md", "Now") == ["The move to PostgreSQL 16 may be decided."]
    assert "The shop is in Bern. (unsure)" in ids(model.pages[0]["pages"][0]["items"]), "the first reader doubts it"
    [said] = [one for call in model.claims for one in call if one["kind"] == "sentence"]
    assert said["context"] == [f"live Decision of Alpha since {DAY} (unsure)"]


def test_a_sentence_that_stands_is_asked_about_again_only_when_what_it_rests_on_changed(memory: Memory) -> None:
    log(memory, *ITEMS[:3])
    now = "The move to PostgreSQL 16 is decided."
    model = writes("", MOVE, now=now)
    curate(memory, model)
    log(memory, "Fact: The shop is in Bern.", day="2026-03-20")
    curate(memory, model, "2026-03-21T02:00+00:00")
    assert told(memory, "MEMORY.md", "Now") == [now]
    assert model.pages[1]["now"]["before"][0]["text"] == now
    assert [one["text"] for call in model.claims for one in call].count(now) == 1


def test_a_sentence_that_stands_keeps_a_day_that_is_shown_no_more(memory: Memory) -> None:
    log(memory, ITEMS[0])
    now = "The move to PostgreSQL 16 is decided."
    model = writes("", episode="The move to PostgreSQL 16 was settled.")

    def write(asked: Asked) -> Asked:
        rows = [row for page in asked["pages"] for row in page["items"]] + asked["now"]["items"]
        return {"now": [{"text": now, "ids": [ids(rows)[MOVE]], "days": [DAY]}], "states": []}

    model.writes = write
    curate(memory, model)
    for day in ("2026-03-20", "2026-03-21", "2026-03-22"):
        log(memory, f"Fact: It rained on {day}.", day=day)
        curate(memory, model, f"{day}T23:30+00:00")
    assert told(memory, "MEMORY.md", "Now") == [now]
    assert [one["text"] for call in model.claims for one in call].count(now) == 1


def test_a_sentence_rests_on_the_day_that_bore_it_out_though_another_is_cited_later(memory: Memory) -> None:
    model = writes("", episode="The move to PostgreSQL 16 was settled.")

    def write(asked: Asked) -> Asked:
        late = asked["now"]["episodes"][-1]["day"]
        return {"now": [{"text": "The database moves.", "ids": [], "days": [late]}], "states": []}

    model.writes = write
    log(memory, ITEMS[0])
    curate(memory, model)
    for day in ("2026-03-20", "2026-03-21"):
        log(memory, f"Fact: It rained on {day}.", day=day)
        curate(memory, model, f"{day}T23:30+00:00")
    assert [one["days"] for one in model.pages[-1]["now"]["before"]] == [[DAY]]


def test_the_purpose_of_a_page_is_kept_on_it(memory: Memory) -> None:
    log(memory, *ITEMS)
    model = writes("")
    states: list[Asked] = [{"id": "alpha", "purpose": "the shop's orders", "sentences": []}]
    model.writes = lambda _: {"now": [], "states": states}
    curate(memory, model)
    assert read_documents(memory.root)[ALPHA].front.get("purpose") == "the shop's orders"
    states[0]["purpose"] = ""
    log(memory, "Fact: The shop is in Bern.", day="2026-03-20")
    curate(memory, model, "2026-03-21T02:00+00:00")
    assert model.pages[1]["pages"][0]["purpose"] == "the shop's orders"
    assert read_documents(memory.root)[ALPHA].front.get("purpose") == "the shop's orders"


def test_a_persons_note_with_items_is_told_of_and_is_given_neither_state_nor_purpose(memory: Memory) -> None:
    note = "Resources/Quay.md"
    memory.write(
        note, f"---\ntags: port\n---\nWords.\n\n# Notes\n\n- [ ] Todo: Tar the quay. <!-- kaaaaaaa1 since={DAY} -->\n"
    )
    memory.curate("run", "--provider", "rules", "--now", f"{DAY}T12:00")
    memory.write(f"Logs/{DAY}.md", f"# {DAY}\n\n## Quay\n\n- Decision: The quay is tarred in May.\n")
    model = writes("The quay is tarred in May.", "The quay is tarred in May.", now="The quay waits for tar in May.")
    given = model.writes
    assert given
    model.writes = lambda asked: {**given(asked), "states": [{"id": "Quay", "purpose": "port", "sentences": []}]}
    curate(memory, model)
    [page] = model.pages[0]["pages"]
    assert (page["title"], [one["text"] for one in page["items"]]) == (
        "Quay", ["The quay is tarred in May.", "Tar the quay."]
    )  # fmt: skip
    assert "purpose" not in memory.read(note)
    assert "## State" not in memory.read(note)


def test_an_outsiders_word_is_in_no_generated_sentence(memory: Memory) -> None:
    outside = "Fact: According to shop.example, orders cost $5."
    log(memory, *ITEMS, outside)
    model = writes("Orders cost $5.", outside.partition(": ")[2], episode="Orders cost $5.")
    curate(memory, model)
    rows = [row for page in model.pages[0]["pages"] for row in page["items"]] + model.pages[0]["now"]["items"]
    assert not [row for row in rows if "cost" in row["text"]]
    assert "cost" not in "".join([*told(memory, ALPHA, "State"), *told(memory, EPISODES, DAY)])


def test_where_the_second_reader_fails_no_sentence_is_written(memory: Memory) -> None:
    log(memory, *ITEMS)
    first = writes("PostgreSQL 16 takes the orders.", MOVE, now="PostgreSQL 16 has the orders.")
    curate(memory, first)
    before = memory.files()
    log(memory, "Fact: The shop is in Bern.", day="2026-03-20")
    model = writes("Orders wait for PostgreSQL 16.", MOVE, now="PostgreSQL 16 has to wait.", episode="It was Bern.")
    model.verifies = FailureKind.DOWN
    report = curate(memory, model, "2026-03-21T02:00+00:00")
    assert (report.pending_days, report.exit_code) == (("2026-03-20",), 1)
    assert "shop is in Bern" not in memory.read(ALPHA)
    after = memory.files()
    assert {path for path in before if before[path] != after[path]} == set()


@pytest.mark.parametrize("said", [{}, {"states": [], "now": []}, "no JSON", FailureKind.DOWN])
def test_code_writes_where_no_model_does(memory: Memory, said: Any) -> None:
    log(memory, *ITEMS)
    report = curate(memory, Reader(writes=lambda _: said))
    assert told(memory, ALPHA, "State") == [
        f"Last decision ({DAY}): {MOVE}",
        f"Next ({DAY}): Ask legal about the DPA.",
        f"At risk ({DAY}): The import might lose orders.",
    ]
    assert told(memory, EPISODES, DAY) == [
        f"Decided: {MOVE}",
        "Learnt: Shelf number 0 is full; Shelf number 1 is full; Shelf number 2 is full.",
        "To do: Ask legal about the DPA.",
        "At risk: The import might lose orders.",
    ]
    failed = said in ("no JSON", FailureKind.DOWN)
    assert any("No model could write what stands at the top of MEMORY.md" in note for note in report.warnings) is failed


def test_of_a_full_day_an_episode_tells_what_is_most_worth_it_and_counts_nothing(memory: Memory) -> None:
    said = ("Decision", "Rule", "Fact", "Todo", "Risk")
    log(memory, *(f"{label}: Quay {at} is {label.lower()} number {at}." for at in range(9) for label in said))
    memory.night("2026-03-20T02:00")
    first = [line.partition(":")[0] for line in told(memory, EPISODES, DAY)]
    assert first == ["Decided", "From now on", "Learnt", "To do"]
    assert "more" not in memory.read(EPISODES)


def test_a_small_page_speaks_for_itself_until_something_ends(memory: Memory) -> None:
    log(memory, *ITEMS[:3])
    model = writes(MOVE, MOVE)
    curate(memory, model)
    assert "## State" not in memory.read(ALPHA)
    assert "States of:" not in model.words[0]
    memory.curate("done", "legal", "--now", "2026-03-20T09:00")
    assert told(memory, ALPHA, "State") == [
        f"Last decision ({DAY}): {MOVE}",
        f"At risk ({DAY}): The import might lose orders.",
    ]
    log(memory, "Fact: The shed is wet.", day="2026-03-20")
    curate(memory, model, "2026-03-21T02:00+00:00")
    assert "States of: alpha\n" in model.words[1]


def test_a_state_is_true_at_once_after_a_change_by_hand(memory: Memory) -> None:
    log(memory, *ITEMS)
    curate(memory, writes("PostgreSQL 16 takes the orders.", MOVE))
    memory.curate("correct", "Orders move", "Orders stay in MySQL 9.", "--now", "2026-03-20T09:00")
    memory.curate("done", "legal", "--now", "2026-03-20T09:00")
    assert told(memory, ALPHA, "State") == [
        "Last decision (2026-03-20): Orders stay in MySQL 9.",
        f"At risk ({DAY}): The import might lose orders.",
    ]


def test_a_persons_change_survives_many_nights(memory: Memory) -> None:
    log(memory, *ITEMS)
    words = "PostgreSQL 16 takes the orders."
    curate(memory, writes(words, MOVE, episode=words))
    mine = "We trust PostgreSQL 16 with the orders, hurrah."
    for path in (ALPHA, EPISODES):
        memory.write(path, memory.read(path).replace("PostgreSQL 16 takes the orders.", mine))
    memory.write(ALPHA, memory.read(ALPHA).replace("## State\n\n", "## State\n\nMy own words.\n"))
    for night in range(4):
        day = f"2026-04-{night + 1:02}"
        log(memory, f"Decision: Shelf {night} is painted.", f"Todo: Paint shelf {night} again", day=day)
        curate(
            memory,
            writes(f"Shelf {night} is painted.", f"Shelf {night} is painted."),
            f"2026-04-{night + 2:02}T02:00+00:00",
        )
    state = told(memory, ALPHA, "State")
    assert state[:2] == ["My own words.", mine]
    assert state[2] == "Shelf 3 is painted."
    assert not [line for line in state if MOVE in line]
    assert mine in told(memory, EPISODES, DAY)


def without(memory: Memory, path: str, start: str) -> str:
    """Delete the line that begins so from a page, as a person does, and return it."""
    lines = memory.read(path).splitlines(keepends=True)
    [gone] = [line for line in lines if line.startswith(start)]
    memory.write(path, "".join(line for line in lines if line != gone))
    return gone


def test_a_deleted_sentence_does_not_come_back_with_another_article(memory: Memory) -> None:
    other = "Orders of the shop move to PostgreSQL 16."
    log(memory, f"Decision: {MOVE}", f"Fact: {other}", *ITEMS[1:])
    curate(memory, writes("An order moves to PostgreSQL 16.", MOVE))
    without(memory, ALPHA, "An order moves")
    log(memory, "Fact: The shop is in Bern.", day="2026-03-20")
    curate(memory, writes("The order moves to PostgreSQL 16", other), "2026-03-21T02:00+00:00")
    assert "order moves" not in "".join(told(memory, ALPHA, "State"))


def test_a_veto_ends_when_a_person_puts_the_sentence_back(memory: Memory) -> None:
    log(memory, *ITEMS)
    curate(memory, writes(""))
    risk = without(memory, ALPHA, f"At risk ({DAY}): The import")
    memory.curate("done", "legal", "--now", "2026-03-20T09:00")
    assert "At risk" not in memory.read(ALPHA)
    memory.write(ALPHA, memory.read(ALPHA).replace("## Decisions", f"{risk}\n## Decisions"))
    log(memory, "Fact: The shop is in Bern.", day="2026-03-20")
    curate(memory, writes(""), "2026-03-21T02:00+00:00")
    assert told(memory, ALPHA, "State")[-1] == f"At risk ({DAY}): The import might lose orders."
    memory.curate("resolve", "import", "--now", "2026-03-22T09:00")
    assert "At risk" not in memory.read(ALPHA)


def test_an_episode_that_a_person_deleted_stays_away_and_asks_no_model(memory: Memory) -> None:
    log(memory, *ITEMS[:2])
    model = writes(MOVE, MOVE)
    curate(memory, model)
    memory.write(EPISODES, memory.read(EPISODES).partition("\n## ")[0])
    for day in ("2026-03-21", "2026-03-22"):
        curate(memory, model, f"{day}T02:00+00:00")
    assert memory.read(EPISODES) == "# March 2026\n"
    assert len(model.pages) == 1


def test_what_a_late_line_tells_comes_after_what_was_told_of_the_day(memory: Memory) -> None:
    log(memory, *ITEMS[:1])
    moved = "The move to PostgreSQL 16 was settled."
    curate(memory, writes("", episode=moved))
    assert told(memory, EPISODES, DAY) == [moved]
    memory.write(f"Logs/{DAY}.md", memory.read(f"Logs/{DAY}.md") + "- Risk: The disk may fill up.\n")
    late = "Somebody saw how full the disk is."
    curate(memory, writes("", episode=late), "2026-03-21T02:00+00:00")
    assert told(memory, EPISODES, DAY) == [moved, late], "what was told of the day before stays"


def test_what_a_model_tells_of_a_late_line_comes_beside_what_the_rules_read(memory: Memory) -> None:
    log(memory, *ITEMS[:1])
    memory.curate("run", "--provider", "rules", "--now", f"{DAY}T23:30")
    memory.write(f"Logs/{DAY}.md", memory.read(f"Logs/{DAY}.md") + "- Risk: The disk may fill up.\n")
    late = "Somebody saw how full the disk is."
    curate(memory, writes("", episode=late), "2026-03-21T02:00+00:00")
    assert told(memory, EPISODES, DAY) == [late, f"Decided: {MOVE}"]


def test_what_is_forgotten_goes_from_states_and_episodes(memory: Memory) -> None:
    log(memory, *ITEMS)
    curate(memory, writes("PostgreSQL 16 takes the orders.", MOVE))
    ident = memory.json("items")[0]["id"]
    memory.curate("forget", ident, "--yes", "--now", "2026-03-20T09:00")
    assert not [path for path, data in memory.files().items() if b"PostgreSQL" in data]


def test_what_is_done_moves_to_the_history_after_two_weeks(memory: Memory) -> None:
    log(memory, *ITEMS[:3])
    curate(memory, writes(MOVE, MOVE))
    memory.curate("done", "legal", "--now", "2026-03-20T09:00")
    memory.curate("resolve", "import", "--now", "2026-03-20T09:00")
    assert "[x] Todo: Ask legal" in memory.read(ALPHA).partition("## History")[0]
    log(memory, "Fact: The shop is in Bern.", day="2026-04-02")
    curate(memory, writes(MOVE, MOVE), "2026-04-03T02:00+00:00")
    assert "[x] Todo: Ask legal" in memory.read(ALPHA).partition("## History")[0]
    log(memory, "Fact: The shop is in Thun.", day="2026-04-03")
    curate(memory, writes(MOVE, MOVE), "2026-04-04T02:00+00:00")
    today, history = memory.read(ALPHA).split("## History")
    assert "Ask legal" not in today
    assert "[x] Todo: Ask legal" in history
    assert "The import might lose orders." in history


def test_what_holds_since_before_is_told_on_the_day_that_told_it(memory: Memory) -> None:
    log(memory, "Nothing of note.", day="2026-03-10")
    log(memory, "Fact: The press stands since the tenth.", "Fact: The press is green.", day="2026-03-12")

    def read(day: Asked) -> Asked:
        rows = [one for one in day["entries"] if "Fact" in one["text"]]
        said = [one["text"].partition(": ")[2] for one in rows]
        more: tuple[Asked, ...] = ({"from": "2026-03-10"}, {})
        return {"items": [item("Fact", one, row, confidence="high", **own)
                          for one, row, own in zip(said, rows, more, strict=False)]}  # fmt: skip

    curate(memory, Reader(read))
    assert all("press" not in row for row in told(memory, EPISODES, "2026-03-10"))
    assert any("since the tenth" in row for row in told(memory, EPISODES, DAY))
