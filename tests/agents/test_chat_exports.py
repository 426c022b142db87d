"""`curate import`: the conversations of ChatGPT and claude.ai, in the logs of their days.

The shapes are those that public parsers of these exports describe and that their samples have.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pipelines.store.item import Trust
from tests.asking import items
from tests.conftest import Memory

NOW = ("--now", "2026-03-20T12:00")


def node(ident: str, parent: str | None, role: str, parts: Any, time: float | None, **more: Any) -> dict[str, Any]:
    """Return a node of ChatGPT's tree; `more` goes into its message, but for its content's type."""
    content = {"content_type": more.pop("kind", "text"), "parts": parts}
    message = {"id": ident, "author": {"role": role, "name": None}, "create_time": time, "content": content}
    return {"id": ident, "parent": parent, "children": [], "message": {**message, "metadata": {}, **more}}


def chatgpt(*more: dict[str, Any], current: str = "a2") -> list[dict[str, Any]]:
    """Return an export with a branch that was given up, what is hidden, tools, and a turn after midnight in Zurich."""
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-x"}
    spoken = {"content_type": "audio_transcription", "text": "Remember that the lantern is painted red."}
    nodes = [
        {"id": "root", "message": None, "parent": None, "children": ["s"]},
        node("s", "root", "system", [""], None),
        node("c", "s", "user", ["my profile"], None, kind="user_editable_context"),
        node("h", "c", "user", ["hidden words"], 1772100000.0, metadata={"is_visually_hidden_from_conversation": True}),
        node("u1", "h", "user", ["Decision: the pier is closed on Mondays."], 1772100000.5),
        node("old", "u1", "assistant", ["An answer that was given up."], 1772100005.0),
        node("call", "u1", "assistant", ["search('pier')"], 1772100006.0, recipient="browser"),
        node("think", "call", "assistant", ["let me think"], 1772100006.0, kind="thoughts"),
        node("t1", "think", "tool", ["Rule: visitors of the pier must always pay nine francs."], 1772100007.0),
        node("a1", "t1", "assistant", ["Noted, the pier is closed."], 1772100008.0, recipient="all"),
        node("u2", "a1", "user", [image, spoken], 1772146800.0, kind="multimodal_text"),
        node("a2", "u2", "assistant", ["Rule: visitors of the pier must always pay nine francs."], None),
        *more,
    ]
    return [
        {
            "title": "Pier", "conversation_id": "6650aaaa-1", "create_time": 1772100000.0, "current_node": current,
            "mapping": {one["id"]: one for one in nodes},
        },
        {"title": "New chat", "id": "6650aaaa-2", "create_time": None, "mapping": {}, "current_node": "gone"},
    ]  # fmt: skip


CLAUDE: list[dict[str, Any]] = [
    {
        "uuid": "c1a0-1",
        "name": "Mill",
        "created_at": "2026-02-10T09:00:00.123456Z",
        "account": {"uuid": "x"},
        "chat_messages": [
            {
                "uuid": "m1", "sender": "human", "created_at": "2026-02-10T09:00:01.000000Z",
                "text": "Decision: the mill grinds rye.",
                "content": [{"type": "text", "text": "Decision: the mill grinds rye."}],
                "attachments": [{"file_name": "paste.txt", "extracted_content": "Rule: always feed the miller's cat."}],
                "files": [{"file_name": "mill.png"}],
            },
            {
                "uuid": "m2", "sender": "assistant", "created_at": "2026-02-10T09:00:09Z",
                "text": "```\nThis block is not supported on your current device yet.\n```\n\nRye it is.",
                "content": [
                    {"type": "thinking", "thinking": "hmm"},
                    {"type": "tool_use", "name": "repl", "input": {}},
                    {"type": "tool_result", "content": [{"type": "text", "text": "42"}]},
                    {"type": "text", "text": "Rye it is."},
                ],
            },
            {"uuid": "m3", "sender": "human", "text": "An old message without blocks.", "attachments": []},
        ],
    },
    {"uuid": "c1a0-2", "name": "", "created_at": "2026-02-11T09:00:00Z", "chat_messages": []},
]  # fmt: skip


def saved(folder: Path, value: Any, name: str = "conversations.json") -> str:
    (folder / name).write_text(json.dumps(value), "utf-8")
    return str(folder / name)


def zipped(folder: Path, **files: Any) -> str:
    with zipfile.ZipFile(folder / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../escape.txt", "no path of an archive is ever written")
        archive.writestr("__MACOSX/._conversations.json", b"\x00\x05")
        for name, value in files.items():
            archive.writestr(f"data/{name.replace('_', '-')}.json", json.dumps(value))
    return str(folder / "export.zip")


def test_a_conversation_of_chatgpt_goes_to_the_logs_of_its_days(memory: Memory, tmp_path: Path) -> None:
    memory.write("curate.toml", 'timezone = "Europe/Zurich"\n')
    told = memory.curate("import", saved(tmp_path, chatgpt()), *NOW)
    assert told == (
        "Imported 4 messages of 1 conversation with ChatGPT, 2 days from 2026-02-26 to 2026-02-27; 2 yours. "
        "The next run reads them.\n"
    )
    first, second = memory.read("Logs/2026-02-26.md"), memory.read("Logs/2026-02-27.md")
    assert "## Session 6650aaaa, chatgpt" in first
    assert "**user:** Decision: the pier is closed on Mondays." in first
    assert "**assistant:** Noted, the pier is closed." in first
    assert "00:00 **user:** Remember that the lantern is painted red." in second
    both = first + second
    for left_out in ("given up", "hidden", "profile", "search(", "think", "file-service"):
        assert left_out not in both
    memory.curate("run", *NOW)
    found = {item["text"]: (item["trust"], item["status"]) for item in items(memory).values()}
    assert found["the pier is closed on Mondays."] == (Trust.OWNER, "live")
    assert found["visitors of the pier must always pay nine francs."] == (Trust.EXTERNAL, "waiting"), (
        "a tool brought it"
    )


def test_a_newer_export_adds_only_what_is_new(memory: Memory, tmp_path: Path) -> None:
    export = saved(tmp_path, chatgpt())
    assert "4 messages of 1 conversation" in memory.curate("import", export, *NOW)
    logs = {path: data for path, data in memory.files().items() if path.startswith("Logs/")}
    assert "Nothing new" in memory.curate("import", export, *NOW)
    assert {path: data for path, data in memory.files().items() if path.startswith("Logs/")} == logs
    more = node("u3", "a2", "user", ["And the lamp is green."], 1772300000.0)
    grown = saved(tmp_path, chatgpt(more, current="u3"))
    assert "Imported 1 message of" in memory.curate("import", grown, *NOW)
    edited = chatgpt(node("v1", "h", "user", ["Decision: the pier is open."], 1772310000.0), current="v1")
    assert "Imported 1 message of" in memory.curate("import", saved(tmp_path, edited), *NOW)
    whole = "".join(memory.read(path) for path in memory.files() if path.startswith("Logs/"))
    assert whole.count("the pier is closed on Mondays") == 1
    assert whole.count("And the lamp is green.") == 1


def test_an_export_of_claude_ai(memory: Memory, tmp_path: Path) -> None:
    export = zipped(tmp_path, conversations=CLAUDE, projects=[])
    told = memory.curate("import", export, *NOW)
    assert "with claude.ai" in told
    log = memory.read("Logs/2026-02-10.md")
    assert "**user:** Decision: the mill grinds rye." in log
    assert "**assistant:** Rye it is." in log
    assert "**user:** An old message without blocks." in log
    assert "not supported" not in log
    assert "miller's cat" not in log
    assert not (tmp_path.parent.parent / "escape.txt").exists()
    assert "Nothing new" in memory.curate("import", export, "--now", "2026-04-20T12:00")


def test_an_export_in_parts(memory: Memory, tmp_path: Path) -> None:
    said = {"sender": "human", "text": "We meet at the mill, and everybody brings bread."}
    days = [
        {"uuid": f"c{day}", "chat_messages": [{**said, "created_at": f"2026-02-{day}T09:00:00Z"}]}
        for day in range(10, 20)
    ]
    export = zipped(tmp_path, conversations_000=days[:5], conversations_001=days[5:])
    assert "10 messages of 10 conversations" in memory.curate("import", export, *NOW)


def test_secrets_are_redacted_as_capture_does_it(memory: Memory, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    export = saved(tmp_path, chatgpt(node("u3", "a2", "user", [f"the token is {token}"], 1772300000.0), current="u3"))
    assert "redacted" in memory.curate("import", export, *NOW)
    assert not [path for path, data in memory.files().items() if token.encode() in data]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("hello", "cannot be read as an export"),
        ('[{"mapping": {', "cannot be read as an export"),
        ("[" * 200_000, "cannot be read as an export"),
        ('{"a": 1}', "holds no conversation"),
        ("[]", "holds no conversation"),
    ],
)
def test_what_is_no_export_is_refused(memory: Memory, tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "x.json").write_text(text)
    before = memory.files()
    assert why in memory.curate("import", str(tmp_path / "x.json"), *NOW, exits=1)
    assert memory.files() == before


def test_an_archive_that_holds_none_is_refused(memory: Memory, tmp_path: Path) -> None:
    empty = zipped(tmp_path, user={"id": 1})
    assert "holds no conversations.json" in memory.curate("import", empty, *NOW, exits=1)
    assert "cannot be read" in memory.curate("import", str(tmp_path / "nowhere.zip"), *NOW, exits=1)


def test_strange_shapes_cost_themselves_alone(memory: Memory, tmp_path: Path) -> None:
    loop = {"a": {"parent": "b", "message": {"author": [], "content": 5}}, "b": {"parent": "a", "message": 7}}
    strange: list[Any] = [
        5, None, [], {"mapping": loop, "current_node": "a"}, {"mapping": {"x": 1}, "create_time": "soon"},
        {"chat_messages": [1, None, {"sender": "human", "content": 5, "attachments": "x"}], "uuid": 7},
    ]  # fmt: skip
    assert "Imported 4 messages" in memory.curate("import", saved(tmp_path, strange + chatgpt()), *NOW)
