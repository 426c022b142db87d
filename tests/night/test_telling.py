"""Telling a person: by the desktop where there is one, else by mail, and never a word of the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipelines.agents import timers as nights
from tests.agents.install.outside import system

if TYPE_CHECKING:
    from tests.agents.install.outside import System
    from tests.conftest import Memory

__all__ = ["system"]
SAYS = '#!/bin/sh\nprintf "%s\\n" "$0" "$@" >>"{told}"\n'
READS = SAYS + 'cat >>"{told}"\n'
MARKER = "quetzalcoatl"
NOW = ("--now", "2026-03-29T02:00")


@pytest.fixture
def late(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    for name in ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pipelines.night.unattended._SENDMAIL", ())
    memory.write("Logs/2026-03-18.md", f"project: {MARKER}\n\n- Decision: {MARKER} is the word.\n")
    return memory


def test_the_desktop_is_told(late: Memory, system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
    system.program("notify-send", SAYS)
    system.program("mail", READS)
    said = late.curate("status", "--notify", *NOW, exits=1)
    assert "Notified you by notify-send." in said
    told = "\n".join(system.commands())
    assert f"No run has succeeded for more than a day and a half for the memory in {late.root}." in told
    assert MARKER not in told
    assert "/mail" not in told


def test_where_there_is_no_desktop_a_mail_is_sent(late: Memory, system: System) -> None:
    system.program("notify-send", SAYS)
    system.program("mail", READS)
    assert "Notified you by mail." in late.curate("status", "--notify", *NOW, exits=1)
    assert "memcurate: a run failed" in system.commands()


def test_a_way_that_fails_gives_way_to_the_next(late: Memory, system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":9")
    system.program("notify-send", "#!/bin/sh\nexit 1\n")
    system.program("mail", "#!/bin/sh\nexec sleep 60\n")
    (system.folder / "sleep").symlink_to("/bin/sleep")
    system.program("sendmail", READS)
    monkeypatch.setattr(nights, "_SECONDS", 0.3)
    assert "Notified you by sendmail." in late.curate("status", "--notify", *NOW, exits=1)
    assert "Subject: memcurate: a run failed" in system.commands()


@pytest.mark.usefixtures("system")
def test_where_nobody_can_be_told_that_is_said(late: Memory) -> None:
    assert "No desktop and no mail program" in late.curate("status", "--notify", *NOW, exits=1)


@pytest.mark.usefixtures("system")
def test_after_a_night_that_left_no_report_the_sentence_does_not_claim_more(late: Memory, system: System) -> None:
    system.program("mail", READS)
    late.curate("run", *NOW)
    late.curate("status", "--notify", *NOW)
    assert any("The last run failed" in line for line in system.commands())
