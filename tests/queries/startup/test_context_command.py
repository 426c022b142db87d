"""`curate context` as sessions call it: quick, whole, and never the reason why one does not start."""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.queries.startup.context import TITLES
from pipelines.store.generated import Sentence
from tests.conftest import Memory
from tests.forking import forked
from tests.making import told


def started(*arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run `curate context` as a process of its own, as a hook does."""
    return forked("context", *arguments, cwd=cwd, stdin=stdin)


def hook_text(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)["hookSpecificOutput"]
    assert answer["hookEventName"] == "SessionStart"
    return str(answer["additionalContext"])


def test_a_missed_a_failed_and_a_partial_night_are_seen(memory: Memory) -> None:
    assert "no run yet" in memory.curate("context", "--now", "2026-03-18T10:30")
    memory.write("Logs/2026-03-16.md", "- Decision: Moved to Basel.\n")
    memory.night("2026-03-18T02:00")
    assert "overdue" not in memory.curate("context", "--now", "2026-03-19T10:30")
    assert "overdue: that was 2 days ago" in memory.curate("context", "--now", "2026-03-20T10:30")
    (memory.root / "Logs/2026-03-17.md").write_bytes(b"\xff\n")
    memory.night("2026-03-20T02:00", exits=1)
    assert "left something pending" in memory.curate("context", "--now", "2026-03-20T10:30")
    memory.git("checkout", "--detach", "-q")
    memory.night("2026-03-21T02:00", exits=1)
    said = memory.curate("context", "--now", "2026-03-21T10:30")
    assert "last run 2026-03-21 02:00, failed: The git repository at" in said
    assert "is on no branch" in said


@pytest.mark.parametrize("name", ["blue\nwhale", "blue\ufeffwhale", "\x1bblue-whale", "blue\u202ewhale"])
def test_a_document_whose_name_runs_leave_alone_is_no_sessions_project(
    memory: Memory, tmp_path: Path, name: str
) -> None:
    memory.write(f"Projects/{name}.md", "- Fact: It sings.\n")
    memory.write("Projects/Großer Wal.md", "- Fact: It dives.\n")
    (tmp_path / "Blue Whale").mkdir()
    assert "It sings" not in started("--memory", str(memory.root), cwd=tmp_path / "Blue Whale").stdout
    assert "It dives" in started("--memory", str(memory.root), "--project", "großer wal", cwd=tmp_path).stdout


def test_the_project_of_the_working_directory_or_the_one_named(memory: Memory, tmp_path: Path) -> None:
    memory.write("Projects/blue-whale.md", "---\ntitle: Blue Whale\n---\n# Blue Whale\n\n- Fact: It sings.\n")
    (tmp_path / "src/Blue Whale/lib").mkdir(parents=True)
    inside = started("--memory", str(memory.root), cwd=tmp_path / "src/Blue Whale/lib")
    assert "The project (Projects/blue-whale.md)" in inside.stdout
    outside = started("--memory", str(memory.root), cwd=tmp_path)
    assert "It sings" not in outside.stdout
    named = started("--memory", str(memory.root), "--project=blue whale", cwd=tmp_path)
    assert "It sings" in named.stdout
    memory.write(
        "Resources/Red Kite.md",
        "# Red Kite\n\n- [ ] Todo: Ring it. <!-- k0000000009 since=2026-03-10 -->\n- Fact: It soars.\n",
    )
    kite = started("--memory", str(memory.root), "--project=red kite", cwd=tmp_path).stdout
    assert "It soars." in kite.partition("The project (Resources/Red Kite.md)")[2]
    assert "Todo: Ring it. (Red Kite)" in kite
    unknown = started("--memory", str(memory.root), "--project", "../../etc/passwd", cwd=tmp_path)
    assert "There is no document ../../etc/passwd. There are: " in unknown.stdout
    hook = json.dumps({"hook_event_name": "SessionStart", "cwd": str(tmp_path / "src/Blue Whale")})
    assert "It sings" in hook_text(
        started("--memory", str(memory.root), "--format", "claude-code", cwd=tmp_path, stdin=hook)
    )


@pytest.mark.parametrize("word", ["word ", "ünïcödé ", "\U0001f600", " " * 300 + "x", "Donaudampfschifffahrt"])
def test_a_hook_gets_no_more_than_the_session_takes_whole(memory: Memory, tmp_path: Path, word: str) -> None:
    line = (word * 2000)[:1200].rstrip()
    for path in ("SOUL.md", "USER.md", "MEMORY.md"):
        memory.write(path, "\n".join(f"- {number} {line}" for number in range(60)))
    told = hook_text(
        started("--memory", str(memory.root), "--format", "claude-code", "--budget", "90000", cwd=tmp_path)
    )
    assert 2000 < len(told.encode("utf-16-le")) // 2 <= 10_000
    if word.strip() == "word":
        assert len(told) > 7000
        assert "Memory health" in told


def test_a_session_starts_whatever_is_wrong(memory: Memory, tmp_path: Path) -> None:
    root = ("--memory", str(memory.root), "--format", "claude-code")
    (memory.root / "MEMORY.md").unlink()
    (memory.root / "MEMORY.md").mkdir()
    (memory.root / "USER.md").write_bytes(b"\xff\x00\x1b text\n")
    memory.write("curate.toml", "timezone = 7\n[")
    (memory.root / ".curate").mkdir(exist_ok=True)
    memory.write(".curate/runs/zz.json", "{")
    memory.write(".curate/start", "nonsense")
    told = hook_text(started(*root, cwd=tmp_path, stdin="[1, \x00"))
    assert "MEMORY.md is not a regular file; it was left alone." in told
    assert "Who you are" in told
    assert "Memory health:" in told
    assert "no memory was found" in hook_text(started("--format", "claude-code", cwd=tmp_path))


@pytest.mark.parametrize("arguments", [["--budget", "10"], ["--format", "xml"], ["--nonsense"], ["--budget"]])
def test_mistakes_are_named(memory: Memory, tmp_path: Path, arguments: list[str]) -> None:
    done = started("--memory", str(memory.root), *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "--" in done.stderr
    assert not done.stdout


def test_nothing_heavy_is_imported(memory: Memory, tmp_path: Path) -> None:
    zone = "Etc/GMT+6" if datetime.now(UTC).hour > 20 else "UTC"  # no start is kept in the last hour of a day
    memory.write("curate.toml", memory.read("curate.toml").replace('timezone = "UTC"', f'timezone = "{zone}"'))
    memory.write("Projects/harbor.md", "# Harbor\n")
    memory.night("2026-03-18T02:00")
    repository = tmp_path / "elsewhere"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    run = "sys.argv = ['curate', 'context', '--memory', sys.argv[1], '--format', sys.argv[2]]\n"
    run += "from pipelines.start import main; main()\n"
    first = f"import pipelines.queries.startup.kept as k; k._SETTLED = -(10**9)\n{run}"
    probe = (
        "import sys, atexit\n"
        "heavy = ('re', 'json', 'click', 'dataclasses', 'pathlib', 'pydantic', 'numpy', 'sqlite3', 'typing')\n"
        "before = set(sys.modules)\n"
        f"atexit.register(lambda: print(sorted(set(heavy) & (set(sys.modules) - before)), file=sys.stderr))\n{run}"
    )
    for form, folder in (("text", tmp_path), ("claude-code", tmp_path), ("claude-code", repository)):
        command = [
            sys.executable,
            "-S",
            "-c",
            f"import sys; sys.path[:0] = {sys.path!r}\n{probe}",
            str(memory.root),
            form,
        ]
        make = f"import sys; sys.path[:0] = {sys.path!r}\n{first}"
        subprocess.run([sys.executable, "-S", "-c", make, str(memory.root), form], cwd=folder, input="", check=True)
        done = subprocess.run(command, cwd=folder, input="", capture_output=True, text=True, check=True)
        assert done.stderr.strip() == "[]"


def test_of_a_day_that_an_episode_tells_no_shred_of_a_long_entry_is_shown(memory: Memory) -> None:
    memory.day("2026-03-17", f"- Decision: Use SQLite.\n- {'word ' * 20_000}the end\n")
    told = memory.curate("context", "--now", "2026-03-18T09:00")
    assert "Use SQLite" in told.partition("Yesterday")[2]
    assert "the end" not in told
    memory.write("Logs/2026-03-18.md", f"{'word ' * 20_000}the end\n")
    assert "the end" in memory.curate("context", "--now", "2026-03-18T09:02"), "nobody has told of this day yet"


def test_what_another_projects_agent_says_to_itself_is_shown_where_no_project_is_known(memory: Memory) -> None:
    memory.write("Projects/ferry.md", "---\ntitle: Ferry\n---\n# Ferry\n")
    memory.write("Logs/2026-03-18.md", "- 12:01 [project: quay] **assistant:** Let me close it.\n")
    started = [memory.curate("context", *named, "--now", "2026-03-18T13:00") for named in ((), ("--project", "ferry"))]
    assert ["Let me close it." in one for one in started] == [True, False]


@pytest.mark.parametrize("named", [(), ("--project", "ferry")])
def test_of_a_log_a_session_sees_what_people_said_first_and_its_own_project_before_others(
    memory: Memory, named: tuple[str, ...]
) -> None:
    memory.write("Projects/ferry.md", "---\ntitle: Ferry\n---\n# Ferry\n")
    look = "**assistant:** Let me look at gate"
    turns = "".join(f"- 11:{at} [project: ferry] {look} {at}, {'and ' * 60}so on.\n" for at in range(10, 60))
    memory.write(
        "Logs/2026-03-18.md",
        f"- 09:00 [project: ferry] **user:** Staging is on port 5433.\n{turns}\n    and what goes on below\n"
        "- 12:00 [project: quay] **user:** The quay is closed.\n",
    )
    told = memory.curate("context", *named, "--now", "2026-03-18T13:00")
    shown = [one in told for one in ("port 5433", "The quay is closed.", "gate 59", "goes on below", "gate 11")]
    assert shown == [True, True, True, True, False], "a quarter of the budget is for a log at most"


def test_what_is_left_of_a_turn_has_its_speaker_or_goes(memory: Memory) -> None:
    head = "# 2026-03-17\n\n- 12:00 [project: quay] **assistant:** Decision: It is the gate."
    memory.day("2026-03-17", f"{head}\n    - The tail.\n- 12:01 **user:** Yes.\n")
    assert "The tail" not in (said := memory.curate("context", "--now", MORNING))
    assert "12:01 **user:** Yes." in said
    newest = f"- 12:01 **user:** {'and ' * (1 << 16)}"[: (1 << 18) - 20]  # a start reads no more of a log
    memory.write("Logs/2026-03-18.md", f"{head} {'and ' * 9000}\n    Below.\n    The tail.\n{newest}\n")
    said = memory.curate("context", "--now", MORNING)
    assert "The tail" not in said
    assert "- 12:01 **user:** … and and" in said


MORNING = "2026-03-18T09:00"
LAUNCH = (
    "The launch on Friday waits for the harbour's key, which Odile promised to send by post from Malmö before noon, "
    "together with the tide tables of the spring and the list of the pilots."
)


LONG = f"{LAUNCH} Nothing moves before it is there, and whoever asks for it in the meantime is told so."


def parts_of(memory: Memory, *named: str) -> dict[str, str]:
    return in_parts(memory.curate("context", *named, "--now", MORNING))


def in_parts(context: str) -> dict[str, str]:
    """Return each part of the context by its name."""
    names = {title: name for name, title in TITLES.items()}
    found = re.findall(
        r"^=== (.*?)(?: \(\S+\))? ===\n(.*?)(?=\n\n===|\n\nMemory health)", context, re.DOTALL | re.MULTILINE
    )
    return {names[title]: text for title, text in found}


def run_in(folder: Path, memory: Memory, *words: str) -> str:
    """Return what the command prints in a folder, to a program that reads it."""
    command = [sys.executable, "-m", "pipelines.cli", "--memory", str(memory.root), *words]
    return subprocess.run(command, cwd=folder, input="", capture_output=True, text=True, check=True).stdout


def test_what_the_first_part_tells_has_its_id_there_and_its_day_if_that_is_no_late_one(memory: Memory) -> None:
    late, old = Sentence("It rains.", ("k0000000005",), "123456"), Sentence(LAUNCH, ("k0000000001",), "123456")
    memory.write("MEMORY.md", f"# Memory\n\n## Now\n\n{told(old)}\n{told(late)}\n")
    memory.write(
        "Projects/ferry.md",
        "---\ntitle: The Ferry\npurpose: a timetable for pilots\n---\n# The Ferry\n\n"
        f"- [ ] Todo: {LAUNCH} <!-- k0000000001 since=2026-03-10 -->\n"
        f"- Fact: {LAUNCH} <!-- k0000000002 since=2026-03-10 -->\n"
        f"- Fact: {LAUNCH.replace('Friday', '27 March')} <!-- k0000000003 since=2026-03-10 -->\n"
        "- Fact: Pilots read it on paper. <!-- k0000000004 since=2026-03-10 -->\n"
        "- Fact: It rains. <!-- k0000000005 since=2026-03-17 -->\n",
    )
    shown = parts_of(memory)
    assert shown["MEMORY.md"] == f"## Now\n{LAUNCH} (k0000000001, as of 2026-03-10)\nIt rains."
    assert "open" not in shown
    assert shown["work"].splitlines() == [
        "## The Ferry (Projects/ferry.md): a timetable for pilots",
        f"- Fact: {LAUNCH.replace('Friday', '27 March')}",
        "- Fact: Pilots read it on paper.",
    ]


def test_what_is_told_of_now_is_not_cut_for_what_somebody_wrote_into_the_same_file(memory: Memory) -> None:
    said = [f"Crane {number} waits for the harbour's test server." for number in range(12)]
    rows = "".join(f"- Fact: {text} <!-- k00000000{at:02} since=2026-03-17 -->\n" for at, text in enumerate(said, 10))
    memory.write("Areas/cranes.md", f"# Cranes\n\n{rows}")
    now = [told(Sentence(text, (f"k00000000{at}",), "1")) for at, text in enumerate(said, 10)]
    by_hand = "".join(f"## Part {number}\n\n{'Whoever reads this wrote it. ' * 20}\n\n" for number in range(20))
    memory.write("MEMORY.md", f"# Memory\n\nAn index.\n\n{by_hand}## Now\n\n" + "\n".join(now) + "\n")
    shown = parts_of(memory)["MEMORY.md"].splitlines()
    assert [line for line in shown if line][:14] == ["An index.", "## Now", *said]
    assert "## Part 0" in shown


def test_what_stands_below_now_stays_there_and_whole(memory: Memory) -> None:
    memory.write(
        "MEMORY.md",
        "# Memory\n\n## Rules\n\nNo crane at night.\n\n## Now\n\n- One\n  - and more\n\n### Blocked\n\nThe crane.\n",
    )
    shown = parts_of(memory)["MEMORY.md"].split("\n")
    assert [line for line in shown if line] == [
        "## Now", "- One", "  - and more", "### Blocked", "The crane.", "## Rules", "No crane at night.",
    ]  # fmt: skip


def test_a_project_is_told_of_first_and_nothing_of_it_twice(memory: Memory) -> None:
    said = {"Ferry": "The ferry sails at nine.", "Crane": "No crane is rigged on a Friday, nor at night."}
    for at, (title, text) in enumerate(said.items()):
        memory.write(f"Projects/{title}.md", f"# {title}\n\n- Rule: {text} <!-- k000000000{at} since=2026-03-17 -->\n")
    now = [told(Sentence(text, (f"k000000000{at}",), "1")) for at, text in enumerate(said.values())]
    memory.write("MEMORY.md", "# Memory\n\n## Now\n\n" + "\n".join(now) + "\n")
    shown = parts_of(memory, "--project", "Crane")
    assert shown["MEMORY.md"].splitlines() == ["## Now", said["Crane"], said["Ferry"]]
    assert said["Crane"] not in shown.get("project", "")


def test_a_line_that_an_item_rests_on_is_not_repeated_beside_an_episode_of_others(memory: Memory) -> None:
    memory.day("2026-03-17", "- The tide was low.\n- Fact: The quay is long.\n- The gulls sang.\n")
    episode = told(Sentence("It was low tide.", (), "123456", lines="1"))
    memory.write("Episodes/2026-03.md", f"# March 2026\n\n## 2026-03-17\n\n{episode}\n")
    assert parts_of(memory)["yesterday"] == "It was low tide.\n- The gulls sang."


def test_what_was_to_be_done_on_one_of_the_last_days_comes_before_what_has_time(memory: Memory) -> None:
    rows = (("Sweep.", ""), ("Sing.", " on=2026-03-10"), ("Retry.", " on=2026-03-17"), ("Pay.", " due=2026-03-16"))
    lines = (
        f"- [ ] Todo: {text} <!-- k000000000{at} since=2026-03-09{day} -->\n" for at, (text, day) in enumerate(rows)
    )
    memory.write("Projects/ferry.md", f"# The Ferry\n\n{''.join(lines)}")
    assert re.findall(r"Todo: (\w+)", parts_of(memory)["open"]) == ["Pay", "Retry", "Sweep", "Sing"]


def test_an_address_that_the_sentence_above_leaves_out_is_told(memory: Memory) -> None:
    where = "The planos of all lots go to the shared mailbox of the office"
    memory.write(
        "Areas/quay.md",
        f"# Quay\n\n## State\n\n{told(Sentence(f'{where}.', ('k0000000001',), '123456'))}\n\n## Facts\n\n"
        f"- Fact: {where}, planos@example.org. <!-- k0000000001 since=2026-03-10 -->\n"
        "- Rule: Berths are numbered. <!-- k0000000002 since=2026-03-10 perhaps=ended%202026-03-12 -->\n",
    )
    shown = parts_of(memory)["work"]
    assert "planos@example.org" in shown
    assert "Berths are numbered. (perhaps ended since 2026-03-12)" in shown


def test_what_the_owner_laid_down_is_shown_whole(memory: Memory) -> None:
    rules = "".join(f"- Rule: {LONG} For berth {at}. <!-- k00000000{at} since=2026-03-10 -->\n" for at in range(10, 15))
    memory.write("USER.md", f"# User\n\n## Rules\n\n{rules}")
    many = "".join(f"- Fact: {LONG} Berth {at}. <!-- k00000000{at} since=2026-03-10 -->\n" for at in range(30, 99))
    memory.write("Areas/quay.md", f"# Quay\n\n{many}")
    memory.write("MEMORY.md", f"# Memory\n\n{many.replace('k0', 'k1')}")
    assert parts_of(memory)["USER.md"].count("For berth") == 5


def test_what_is_told_of_one_thing_is_not_told_of_another(memory: Memory) -> None:
    things = ("importer", "ledger", "gateway", "mailer", "archive", "scheduler", "dashboard", "queue", "backup")
    said = [f"The {one} of the old harbour office is kept in vault {one[::-1]}." for one in things]
    rows = (f"- Fact: {one} <!-- k00000000{at + 10} since=2026-03-10 -->\n" for at, one in enumerate(said))
    memory.write("Areas/quay.md", f"# Quay\n\n{''.join(rows)}")
    assert [one for one in said if one not in parts_of(memory)["work"]] == []


def test_a_question_stands_with_what_is_open_and_a_quiet_one_with_what_is_quiet(memory: Memory) -> None:
    memory.day("2026-03-17", "- Question: Who signs the contract?\n- Decision: Berths are numbered.\n")
    assert parts_of(memory)["open"].endswith(" Question: Who signs the contract? (general)")
    assert "contract" not in parts_of(memory)["work"]
    row = memory.row("Who signs the contract?") | {"quiet": "2026-03-18"}
    memory.write("State/items/2026-03.jsonl", json.dumps(row) + "\n")
    assert "open" not in parts_of(memory)
    assert parts_of(memory)["quiet"].endswith(" Question: Who signs the contract? (general)")


def test_what_was_due_weeks_ago_and_not_mentioned_since_is_only_named(memory: Memory) -> None:
    def todo(number: int, due: str, more: str = "") -> str:
        return f"- [ ] Todo: {LONG} <!-- k000000000{number} since=2026-01-02 due={due}{more} -->\n"

    memory.write(
        "Areas/quay.md",
        f"# Quay\n\n{todo(1, '2026-02-20')}{todo(2, '2026-03-01')}{todo(3, '2026-02-20', ' confirmed=2026-03-16')}",
    )
    lines = parts_of(memory)["open"].splitlines()
    assert [LONG in line for line in lines] == [True, True, False]
    assert lines[2].endswith("… (due 2026-02-20, overdue, quay)")


def test_a_page_of_many_decisions_leaves_room_for_the_fact_of_another(memory: Memory) -> None:
    many = "".join(
        f"- Decision: {LAUNCH} Berth {at} is number {at * 7919} of the list. <!-- k00000000{at} since=2026-03-17 -->\n"
        for at in range(10, 99)
    )
    memory.write("Areas/quay.md", f"# Quay\n\n{many}")
    memory.write("Areas/sea.md", "# Sea\n\n- Fact: The tide turns at noon. <!-- k0000000100 since=2026-02-01 -->\n")
    assert "- Fact: The tide turns at noon." in parts_of(memory)["work"]


def test_procedures_leave_room_for_decisions_people_and_facts(memory: Memory) -> None:
    def many(kind: str, first: int, more: str = "") -> str:
        return "".join(
            f"- {kind}: {LAUNCH} Berth {at} is {at * 7919}{more}. <!-- k00000000{at} since=2026-03-17{more} -->\n"
            for at in range(first, first + 20)
        )

    memory.write(
        "Areas/quay.md",
        f"# Quay\n\n## How to\n\n{many('Fact', 10, ' section=howto')}\n## Facts\n\n{many('Fact', 30)}\n"
        f"## Decisions\n\n{many('Decision', 50)}\n## Contacts\n\n{many('Fact', 70, ' section=contacts')}",
    )
    shown = parts_of(memory)["work"]
    counts = [shown.count(" section=howto."), shown.count(" section=contacts."), shown.count("- Decision: ")]
    counts.append(shown.count("- Fact: "))
    assert [shown.count(f"- {kind}: ") for kind in ("How to", "Contact")] == counts[:2]
    assert min(counts) >= sum(counts) // 6 > 1, counts


def test_a_table_whose_rows_the_episode_tells_leaves_no_bare_head(memory: Memory) -> None:
    table = "| what | price |\n|---|---|\n| berth 1 | 300 kr |\n"
    memory.write("Logs/2026-03-17.md", f"## Prices\n\n{table}\n## Rest\n\n- The tide was low.\n")
    episode = told(Sentence("Berth 1 costs 300 kr.", (), "123456", lines="5"))
    memory.write("Episodes/2026-03.md", f"# March 2026\n\n## 2026-03-17\n\n{episode}\n")
    assert parts_of(memory)["yesterday"] == "Berth 1 costs 300 kr.\n\n## Rest\n- The tide was low."


def test_what_is_told_without_blanks_is_named_too(memory: Memory) -> None:
    said = "りんちゃんのスタンプは修正版の二回目のフィードバックを待っていて、次は登録である。" * 2
    memory.write("MEMORY.md", f"# Memory\n\n## Now\n\n{told(Sentence(f'今日、{said}', ('k0000000009',), '1'))}\n")
    memory.write("Areas/rin.md", f"# Rin\n\n- [ ] Todo: {said} <!-- k0000000001 since=2026-03-10 -->\n")
    named = parts_of(memory)["open"].partition("Todo: ")[2].removesuffix("… (rin)")
    assert len(named) > 10
    assert said.startswith(named)


def test_a_session_sees_the_last_day_of_work_on_its_project(memory: Memory, tmp_path: Path) -> None:
    memory.write("Projects/quay.md", "---\ntitle: Quay\n---\n# Quay\n")
    memory.write("Logs/2026-03-13.md", "- 09:00 [project: Ferry] **user:** Staging is on port 5433.\n")
    memory.write("Logs/2026-03-15.md", "- 09:00 [project: quay] **user:** The quay is closed.\n")
    repository = tmp_path / "ferry"
    (repository / ".git").mkdir(parents=True)
    (repository / ".git/HEAD").touch()
    shown = [parts_of(memory, *way).get("last day", "") for way in ((), ("--project", "quay"))]
    assert ["The quay is closed." in one for one in shown] == [True, True], "the 17th has no log"
    told = run_in(repository, memory, "context", "--now", MORNING)
    assert "port 5433" in in_parts(told)["last day"]
    assert "(Logs/2026-03-13.md)" in told


def test_a_full_memory_leaves_room_for_yesterday(memory: Memory) -> None:
    full = "".join(f"- Fact: Shelf {at} of the {'long ' * 12}hall holds rope.\n" for at in range(200))
    for page in ("MEMORY.md", "USER.md", "Areas/quay.md"):
        memory.write(page, f"# Page\n\n## Facts\n\n{full.replace('Shelf', page.rpartition('/')[2])}")
    todos = "".join(f"- [ ] Todo: Count the rope on shelf {at} of the {'long ' * 12}hall.\n" for at in range(200))
    memory.write("Areas/todos.md", f"# Todos\n\n## Todos\n\n{todos}")
    memory.write("Logs/2026-03-17.md", "- 10:00 The crane was rigged, and it holds.\n")
    assert "The crane was rigged" in parts_of(memory).get("yesterday", "")


def test_a_line_logged_where_a_session_was_started_begins_the_project_of_its_repository(
    memory: Memory, tmp_path: Path
) -> None:
    repository = tmp_path / "ferry"
    (repository / ".git").mkdir(parents=True)
    (repository / ".git/HEAD").touch()
    assert "project" not in run_in(repository, memory, "log", "Fact: The ramp is steep.")
    run_in(repository, memory, "context")
    (repository / "src").mkdir()
    assert "[project: ferry] Fact: The bow is blunt." in run_in(
        repository / "src", memory, "log", "Fact: The bow is blunt."
    )
    assert "project" not in run_in(tmp_path, memory, "log", "Fact: The sea is calm.")
