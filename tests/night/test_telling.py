"""Telling a person: on the desktop where there is one, else on standard error, and never a word of the memory."""

import pytest

from pipelines.agents import timers as nights
from tests.agents.install.outside import System, system
from tests.conftest import Memory

__all__ = ["system"]
SAYS = '#!/bin/sh\nprintf "%s\\n" "$0" "$@" >>"{told}"\n'
MARKER = "quetzalcoatl"
NOW = ("--now", "2026-03-29T02:00")


@pytest.fixture
def late(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    for name in ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    memory.write("Logs/2026-03-18.md", f"project: {MARKER}\n\n- Decision: {MARKER} is the word.\n")
    return memory


def test_the_desktop_is_told(late: Memory, system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
    system.program("notify-send", SAYS)
    assert "Notified you on the desktop." in late.curate("status", "--notify", *NOW, exits=1)
    told = "\n".join(system.commands())
    assert f"The nights of the memory in {late.root} need you" in told
    assert MARKER not in told


@pytest.mark.parametrize("program", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\nexec sleep 60\n", ""])
def test_where_no_desktop_answers_the_sentence_is_on_standard_error(
    late: Memory, system: System, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setenv("DISPLAY", ":9")
    (system.folder / "sleep").symlink_to("/bin/sleep")
    if program:
        system.program("notify-send", program)
    monkeypatch.setattr(nights, "_SECONDS", 0.3)
    said = late.curate("status", "--notify", *NOW, exits=1).splitlines()[-1]
    assert f"The nights of the memory in {late.root} need you" in said
    assert MARKER not in said


def test_without_a_desktop_no_program_is_started(late: Memory, system: System) -> None:
    for name in ("notify-send", "mail", "sendmail", "osascript"):
        system.program(name, SAYS)
    assert "need you" in late.curate("status", "--notify", *NOW, exits=1)
    assert system.commands() == []
