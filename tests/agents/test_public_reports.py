"""Small cases from public reports of tools that keep an agent's memory or its sessions, each named by its address."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.cli import run_cli
from tests.agents.adopt.samples import lay
from tests.agents.adopt.test_adopt_command import Adoption, adoption
from tests.agents.adopt.test_generated import texts
from tests.cli.test_capture import said, transcript
from tests.cli.test_sweep import codex, completed, sidechain, words_of
from tests.conftest import Memory

__all__ = ["adoption"]
NIGHT = ("--now", "2026-03-18T02:00")
DAY = "2026-03-17T21:{}:00Z"
BASIC = "---\ntitle: Bees\ntype: note\npermalink: bees\n---\n\n"
META = {"type": "session_meta", "payload": {"id": "c0de", "cwd": "/srv/harbor", "timestamp": "2026-03-17"}}


def turns(memory: Memory, tmp_path: Path, *records: dict[str, Any] | bytes) -> list[str]:
    """Return the turns in the log after a session was captured."""
    memory.curate("capture", str(transcript(tmp_path / "a.jsonl", *records)))
    return words_of(memory)


def owner(text: str, minute: int, ident: str = "", parent: str | None = None, **more: Any) -> dict[str, Any]:
    return said("user", text, DAY.format(minute), uuid=ident or f"u{minute}", parentUuid=parent, **more)


def agent(text: str, minute: int, ident: str = "", parent: str | None = None) -> dict[str, Any]:
    return said("assistant", text, DAY.format(minute), uuid=ident or f"u{minute}", parentUuid=parent)


# ---------------------------------------- basic-memory


def test_a_callout_is_no_observation(adoption: Adoption) -> None:
    """https://github.com/basicmachines-co/basic-memory/issues/738."""
    lay(adoption.old, {"a.md": f"{BASIC}> [!info] Some title\n> Content inside\n\n- [tech] The pump is a P4\n"})
    adoption.adopt("--yes")
    adoption.memory.curate("run", *NIGHT)
    assert texts(adoption.memory) == {"tech: The pump is a P4"}


def test_a_note_with_a_byte_order_mark_keeps_its_front_matter(adoption: Adoption) -> None:
    """https://github.com/open-gsd/gsd-core/issues/2977."""
    lay(adoption.old, {"a.md": f"\ufeff{BASIC}- [decision] Oak, not pine\n".replace("\n", "\r\n")})
    adoption.adopt("--as", "obsidian", "--yes")
    adoption.memory.curate("run", *NIGHT)
    assert texts(adoption.memory) == {"Oak, not pine"}


def test_a_second_front_matter_below_a_programs_own_is_read(adoption: Adoption) -> None:
    """https://github.com/basicmachines-co/basic-memory/issues/1171."""
    note = "---\npermalink: a/n\n---\n\n---\nname: oak\ntype: feedback\n---\n\nUse oak.\n\n---\n\nNote: more\n"
    lay(adoption.old, {"0.jsonl": "{}\n", "memory/MEMORY.md": "# M\n", "memory/n.md": note})
    adoption.adopt("--yes")
    [item] = adoption.memory.json("items")
    assert (item["type"], item["text"]) == ("Rule", "Use oak.")
    adoption.memory.write("Areas/many.md", "---\na: b\n---\n" * 3000)
    assert "nothing is broken" in adoption.memory.curate("check")


# ---------------------------------------- OpenClaw


def test_what_was_promoted_without_a_recall_is_no_belief(adoption: Adoption) -> None:
    """https://github.com/openclaw/openclaw/issues/142393 and #89444."""
    rows = (
        "- cmake --build build -j$(nproc) [score=0.850 recalls=0 avg=0.620 source=memory/2026-05-01.md:3-3]\n"
        "- ## Josephur's Decision [score=0.914 recalls=4 avg=0.620 source=memory/2026-05-02.md:9-9]\n"
        "- Gateway logs rotate weekly. [score=0.914 recalls=4 avg=0.9 source=memory/2026-05-02.md:3-3]\n"
    )
    lay(
        adoption.old,
        {"SOUL.md": "# S\n", "MEMORY.md": f"# M\n\n## Promoted From Short-Term Memory (2026-06-02)\n\n{rows}"},
    )
    adoption.adopt("--yes")
    assert texts(adoption.memory) == {"Gateway logs rotate weekly."}
    assert "score=" not in adoption.memory.curate("context")


def test_the_same_heartbeat_line_many_times_is_one_item(memory: Memory) -> None:
    """https://github.com/openclaw/openclaw/issues/46798."""
    memory.write("Logs/2026-03-17.md", "- Fact: Hourly heartbeat check passed.\n" * 300)
    memory.curate("run", *NIGHT)
    assert texts(memory) == {"Hourly heartbeat check passed."}


def test_an_empty_file_of_the_session_hook_gives_nothing(adoption: Adoption) -> None:
    """https://github.com/openclaw/openclaw/issues/18017."""
    head = "# Session: 2026-02-16 10:25:15 UTC\n\n- **Session Key**: agent:main:main\n- **Source**: webchat\n"
    lay(adoption.old, {"memory/2026-02-16-1025.md": head, "memory/2026-02-16.md": "- Decision: Oak.\n"})
    adoption.adopt("--yes")
    adoption.memory.curate("run", *NIGHT)
    assert texts(adoption.memory) == {"Oak."}


def test_notes_of_sessions_beside_a_day_are_read_with_it(adoption: Adoption) -> None:
    """https://github.com/openclaw/openclaw/issues/45607."""
    lay(adoption.old, {"memory/2026-03-13-memory-search.md": "- Decision: Search by words.\n"})
    adoption.adopt("--yes")
    adoption.memory.curate("run", *NIGHT)
    assert "Search by words." in adoption.memory.curate("context", "--now", "2026-03-14T09:00")


def test_reports_in_folders_beside_the_journal_are_no_days(adoption: Adoption) -> None:
    """As 114 files below `memory/research` of https://github.com/kennethbrendangaffney-byte/openclaw-workspace."""
    days = {f"memory/{name}.md": f"- Todo: sow {name}\n" for name in ("2026-03-12", "2026-03-13-noon", "2026/02/01-x")}
    moved = {"memory/archive/2026-03-01.md": "- Todo: sorted away\n"}
    reports = {f"memory/research/2026-03-1{n}_pumps.md": "- [ ] Compare pumps\n" for n in range(9)}
    lay(adoption.old, days | moved | reports)
    places = adoption.places("--yes")
    assert {path for path, place in places.items() if place.startswith("Logs/")} == {*days, *moved}
    adoption.memory.curate("run", *NIGHT)
    held = {one["text"] for one in adoption.memory.json("items")}
    assert held == {"sow 2026-03-12", "sow 2026-03-13-noon", "sow 2026/02/01-x", "sorted away"}
    assert "Compare pumps" in adoption.memory.curate("search", "pumps")


def test_what_the_gateway_wrote_into_a_note_of_a_session_is_no_task(adoption: Adoption) -> None:
    """As in a note of https://github.com/tixastronauta/openclaw-workspace."""
    note = (
        "# Session: 2026-03-13 23:10 UTC\n\n- **Session Key**: agent:main:main\n\n## Conversation Summary\n\n"
        "user: System: [2026-03-13 08:00 UTC] Reminder: check the sheet\n\nA scheduled reminder has been triggered. The"
        " reminder content is:\n\nReminder: check the sheet\nCurrent time: 8:00\nassistant: The sheet is filled.\n\n"
        "Todo: ask Odile for the totals\nuser: Decision: totals go into column F\n"
    )
    lay(adoption.old, {"memory/2026-03-13-2310.md": note, "memory/2026-03-13.md": "- Fact: One bell.\n"})
    adoption.adopt("--yes")
    adoption.memory.curate("run", *NIGHT)
    held = {one["text"] for one in adoption.memory.json("items")}
    assert held == {"One bell.", "ask Odile for the totals", "totals go into column F"}


ECHO = "<relevant-memories>\nThey may be relevant:\n- Odile prefers oak.\n- Rule: Saw ash.\n</relevant-memories>\n\n"
SENDER = 'Sender (untrusted metadata):\n```json\n{"label": "odile"}\n```\n\nSender (untrusted metadata): {"id": 7}\n\n'


@pytest.mark.parametrize("in_place", [False, True])
def test_what_a_memory_recalled_and_who_sent_it_is_nobodys_word(
    adoption: Adoption,
    in_place: bool,  # noqa: FBT001  a case
) -> None:
    """As 40 notes of sessions in the workspace of a stranger who uses Mem0."""
    key = "# Session: 2026-02-26\n\n- **Session Key**: agent:main\n\n"
    turn = f"user: {ECHO}{SENDER}Decision: The gate is red.\nassistant: Done.\n"
    lay(adoption.old, {"memory/2026-02-27-1010.md": f"{key}{turn}", "memory/2026-02-27.md": f"- Fact: One.\n{turn}"})
    if in_place:
        words = ("init", "--adopt", str(adoption.old), "--in-place", "--yes", "--now", "2026-02-28T12:00")
        assert run_cli(words) == 0
        adoption.new = adoption.old / "Curated"
    else:
        adoption.adopt("--yes")
    adoption.memory.curate("run", *NIGHT)
    assert texts(adoption.memory) == {"One.", "The gate is red."}
    told = adoption.memory.curate("context", "--now", "2026-02-28T09:00")
    assert "The gate is red." in told
    assert not [word for word in ("relevant", "oak", "Saw", "untrusted", "odile", '"id"') if word in told]


def test_what_a_memory_recalled_into_a_session_is_not_the_owners(memory: Memory, tmp_path: Path) -> None:
    assert turns(memory, tmp_path, owner(f"{ECHO}The gate is red.", 30)) == ["user: The gate is red."]


def test_lifecycle_events_are_nobodys_words(memory: Memory, tmp_path: Path) -> None:
    """https://github.com/thedotmack/claude-mem/issues/1709."""
    prompt = "Read HEARTBEAT.md if it exists. If nothing needs attention, reply HEARTBEAT_OK."
    rows = [
        {"type": "message", "id": str(n), "timestamp": DAY.format(30 + n), "message": {"role": role, "content": text}}
        for n, (role, text) in enumerate([("user", prompt), ("assistant", "HEARTBEAT_OK"), ("user", "Use tabs.")])
    ]
    assert [one for one in turns(memory, tmp_path, *rows) if one.startswith("user")] == ["user: Use tabs."]


# ---------------------------------------- claude-mem


def test_prompts_of_a_memory_tools_own_observer_are_not_the_owners(memory: Memory, tmp_path: Path) -> None:
    """https://github.com/thedotmack/claude-mem/issues/2108."""
    text = "<observed_from_primary_session>\nRule: Always push.\n</observed_from_primary_session>"
    records = [owner(text, 30, entrypoint="sdk-ts"), agent("Noted.", 31)]
    assert turns(memory, tmp_path, *records) == ["assistant: Noted."]
    memory.curate("run", *NIGHT)
    assert not texts(memory)


# ---------------------------------------- Claude Code


def test_a_parent_that_was_never_written_takes_nothing_back(memory: Memory, tmp_path: Path) -> None:
    """https://github.com/anthropics/claude-code/issues/22526."""
    records = [
        owner("One.", 30, "a"),
        agent("Yes.", 31, "b", "a"),
        owner("Two.", 32, "c", "gone"),
        agent("Ok.", 33, "d", "c"),
    ]
    assert turns(memory, tmp_path, *records) == ["user: One.", "assistant: Yes.", "user: Two.", "assistant: Ok."]


def test_after_a_resume_prompts_that_follow_a_phantom_are_all_kept(memory: Memory, tmp_path: Path) -> None:
    """https://github.com/anthropics/claude-code/issues/61188."""
    summary = owner("This session is being continued.", 31, "s", "a", isCompactSummary=True)
    records = [
        owner("One.", 30, "a"),
        summary,
        owner("Two.", 32, "b", "ram"),
        agent("Ok.", 33, "c", "b"),
        owner("Three.", 34, "d", "ram2"),
    ]
    assert turns(memory, tmp_path, *records) == ["user: One.", "user: Two.", "assistant: Ok.", "user: Three."]


def test_snapshots_under_a_messages_id_lose_no_message(memory: Memory, tmp_path: Path) -> None:
    """https://github.com/anthropics/claude-code/issues/36583."""
    snapshot = {"type": "file-history-snapshot", "messageId": "a", "snapshot": {}, "isSnapshotUpdate": False}
    records = [owner("One.", 30, "a"), snapshot, agent("Yes.", 31, "b", "a"), snapshot, owner("Two.", 32, "c", "b")]
    assert turns(memory, tmp_path, *records) == ["user: One.", "assistant: Yes.", "user: Two."]


def test_a_session_that_power_loss_cut_goes_on(memory: Memory, tmp_path: Path) -> None:
    """https://github.com/anthropics/claude-code/issues/53821."""
    cut = json.dumps(agent("Never whole.", 31)).encode()[:40]
    assert turns(memory, tmp_path, owner("One.", 30), cut) == ["user: One."]
    assert turns(memory, tmp_path, owner("One.", 30), cut, b"\0" * 64 + json.dumps(owner("Two.", 32)).encode()) == [
        "user: One.",
        "user: Two.",
    ]


def test_nul_and_other_bytes_of_a_tools_output_cost_no_turn(memory: Memory, tmp_path: Path) -> None:
    """https://github.com/anthropics/claude-code/issues/94408."""
    block = {"type": "tool_result", "tool_use_id": "t", "content": "a\0b"}
    result = owner("", 31) | {"message": {"role": "user", "content": [block]}}
    raw = json.dumps(result).encode().replace(b"a\\u0000b", b"\xff\xfe\x00")
    assert turns(memory, tmp_path, owner("One.", 30), raw, owner("Two.", 32)) == ["user: One.", "user: Two."]


def test_history_that_is_written_again_counts_once(memory: Memory, tmp_path: Path) -> None:
    """https://github.com/anthropics/claude-code/issues/5034."""
    first, answer = owner("What is it?", 30, "a"), agent("Paris.", 31, "b", "a")
    records = [first, answer, first, answer, owner("And its size?", 32, "c", "b")]
    assert turns(memory, tmp_path, *records) == ["user: What is it?", "assistant: Paris.", "user: And its size?"]


def test_what_the_program_says_of_an_unknown_command_is_not_the_owners(memory: Memory, tmp_path: Path) -> None:
    """https://github.com/xiaomoziyi/session-logs (a session of January 2026)."""
    assert turns(memory, tmp_path, owner("Unknown skill: load", 30), owner("Go.", 31)) == ["user: Go."]


def test_a_session_of_subagents_alone_is_not_the_owners(memory: Memory, tmp_path: Path) -> None:
    """https://github.com/anthropics/claude-code/issues/17200."""
    folder = tmp_path / "s/subagents"
    folder.mkdir(parents=True)
    transcript(folder / "agent-1.jsonl", owner("Rule: Always push.", 30, isSidechain=True, agentId="1"))
    transcript(tmp_path / "s.jsonl", owner("Hello.", 30))
    memory.curate("capture", str(tmp_path))
    assert words_of(memory) == ["user: Hello."]


def test_a_side_question_that_no_line_of_the_session_has_is_captured(memory: Memory, tmp_path: Path) -> None:
    """https://github.com/anthropics/claude-code/issues/39162, and the files of `/btw`."""
    folder, aside = tmp_path / "s/subagents", "aside_question-7"
    folder.mkdir(parents=True)
    text = "<system-reminder>This is a side question from the user. No tools.</system-reminder>\n\nIs the port 80?"
    transcript(
        folder / "agent-aside_question-7.jsonl", sidechain("user", "Hi.", 30, aside), sidechain("user", text, 31, aside)
    )
    memory.curate("capture", str(tmp_path))
    assert words_of(memory) == ["user: Is the port 80?"]


def test_a_note_of_feedback_says_a_rule(adoption: Adoption) -> None:
    """https://github.com/ultraworkers/claw-code/issues/1660."""
    head = "---\nname: testing-feedback\ndescription: User prefers integration tests over mocks\ntype: feedback\n---\n"
    lay(
        adoption.old,
        {"0.jsonl": "{}\n", "memory/MEMORY.md": "# M\n", "memory/f.md": f"{head}Tests hit a real database.\n"},
    )
    adoption.adopt("--yes")
    [item] = adoption.memory.json("items")
    assert (item["type"], item["text"]) == ("Rule", "Tests hit a real database.")


def test_a_note_that_begins_with_a_list_says_what_its_description_says(adoption: Adoption) -> None:
    """As notes of https://github.com/timmtrede/gtm and https://github.com/mpechner/jenkins_lab do."""
    head = "---\nname: user\ndescription: Ada builds furniture.\ntype: user\n---\n"
    bare = "---\nname: two\ntype: feedback\n---\n\nKnown limits:\n\n1. No nails\n"
    notes = {"memory/u.md": f"{head}\nComfortable with:\n- oak\n", "memory/two.md": bare}
    lay(adoption.old, {"0.jsonl": "{}\n", "memory/MEMORY.md": "# M\n", **notes})
    adoption.adopt("--yes")
    [item] = adoption.memory.json("items")
    assert (item["type"], item["text"], item["document"]) == ("Fact", "Ada builds furniture.", "USER.md")
    assert "description: Ada builds furniture." in adoption.memory.curate("why", item["id"])


# ---------------------------------------- Codex


def test_what_codex_writes_twice_counts_once_and_for_who_said_it(memory: Memory, tmp_path: Path) -> None:
    """https://github.com/vshulcz/deja-vu/pull/652 and https://github.com/Xuanwo/xurl/issues/63."""
    old = [
        {"type": "event_msg", "timestamp": DAY.format(30), "payload": {"type": kind, "message": text}}
        for kind, text in (("user_message", "hi"), ("agent_message", "Hi. What now?"))
    ]
    records = [META, codex("hi"), old[0], old[1], codex("Hi. What now?", "assistant")]
    assert turns(memory, tmp_path, *records) == ["user: hi", "assistant: Hi. What now?"]


def test_messages_that_are_events_alone_are_read(memory: Memory, tmp_path: Path) -> None:
    """https://github.com/Daily-Nerd/daimon/pull/623."""
    records = [META, completed("Fix it."), completed("Done.", "AgentMessage", "Text")]
    assert turns(memory, tmp_path, *records) == ["user: Fix it.", "assistant: Done."]


def test_messages_that_are_records_alone_are_read(memory: Memory, tmp_path: Path) -> None:
    """https://github.com/zilliztech/memsearch/issues/742."""
    records = [META, codex("What is 3+3?"), codex("6", "assistant")]
    assert turns(memory, tmp_path, *records) == ["user: What is 3+3?", "assistant: 6"]


@pytest.mark.parametrize(
    "text",
    [
        "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nRule: Push.\n</INSTRUCTIONS>",
        "<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>",
    ],
)
def test_instructions_that_codex_repeats_are_not_the_owners(memory: Memory, tmp_path: Path, text: str) -> None:
    """https://github.com/openai/codex/issues/10403."""
    assert turns(memory, tmp_path, META, codex(text), codex("Go."), codex(text), codex("On.")) == [
        "user: Go.",
        "user: On.",
    ]
