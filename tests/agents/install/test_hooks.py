"""Hooks in settings of every form: ours once, theirs untouched, and all as it was afterwards."""

import json
import shlex
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pipelines.agents.install_plan import Program, is_call
from pipelines.agents.settings_files import add_hooks, edit_json, remove_calls
from pipelines.agents.targets import AGENTS

HOOKS = AGENTS["claude-code"].hooks
PROGRAM = Program(("/opt/my tools/curate",), Path("/home/ü/my memory"))
MOVED = Program(("/usr/bin/python3", "-m", "pipelines.cli"), Path("/m"))
EVENTS = st.sampled_from(["SessionStart", "SessionEnd", "PreCompact", "Stop"])
COMMANDS = st.sampled_from(["echo hi", "curate status", "curate context", "/x/curate capture --memory /m", "it's", ""])
ENTRIES = st.fixed_dictionaries(
    {"type": st.just("command"), "command": COMMANDS}, optional={"timeout": st.integers(1, 9)}
)
GROUPS = st.fixed_dictionaries({"hooks": st.lists(ENTRIES, min_size=1, max_size=2)}, optional={"matcher": st.just("*")})
SETTINGS = st.fixed_dictionaries(
    {"model": st.just("opus")},
    optional={"hooks": st.dictionaries(EVENTS, st.lists(GROUPS, min_size=1, max_size=2), min_size=1, max_size=3)},
)


def with_hooks(text: str, program: Program) -> str:
    return edit_json(text, partial(add_hooks, hooks=HOOKS, program=program, head={}, grouped=True))


def without_hooks(text: str) -> str:
    return edit_json(text, partial(remove_calls, key="hooks", verbs=[verb for _, verb, *_ in HOOKS]))


@given(SETTINGS, st.sampled_from([None, 2, 4, "\t"]), st.sampled_from(["", "\n"]))
def test_in_and_out_again(settings: dict[str, Any], indent: Any, end: str) -> None:
    text = json.dumps(settings, indent=indent) + end
    added = with_hooks(text, PROGRAM)
    told = json.loads(added)
    for event, groups in settings.get("hooks", {}).items():
        assert told["hooks"][event][: len(groups)] == groups
    for event, verb, *_ in HOOKS:
        lines = [entry["command"] for group in told["hooks"][event] for entry in group["hooks"]]
        assert [is_call(shlex.split(line), verb) for line in lines if line != "it's"].count(True) == 1
    assert with_hooks(added, PROGRAM) == added
    moved = with_hooks(added, MOVED)
    assert "my memory" not in moved
    assert with_hooks(moved, PROGRAM) == added
    assert without_hooks(added) == text
    assert without_hooks(text) == text
