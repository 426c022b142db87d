"""`exec:COMMAND`: any program, and a person, as a model; whatever it does is an answer or a plain failure."""

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Call, ModelAnswer
from pipelines.extract.llm.program import ProgramModel
from pipelines.provider_settings import command_of
from pipelines.usage import FailureKind as Kind

CALL = Call("extract", "extract", 2, "the system part", "user “ü”\n" * 40_000, {"type": "object"}, input={"day": "d"})


def run(program: str, seconds: float = 20) -> ModelAnswer:
    return ProgramModel((sys.executable, "-c", program), seconds).ask(CALL)


def failure(program: str, seconds: float = 20) -> ModelFailed:
    with pytest.raises(ModelFailed) as caught:
        run(program, seconds)
    assert caught.value.provider == "exec"
    return caught.value


def test_the_request_is_json_on_standard_input() -> None:
    told = json.loads(run("import sys; print(sys.stdin.read())").text)
    assert told == {
        "task": "extract", "prompt_id": "extract", "prompt_version": 2, "system": "the system part",
        "user": CALL.user, "schema": {"type": "object"}, "input": {"day": "d"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("program", "kind", "why"),
    [
        ("import sys; sys.exit(3)", Kind.UNUSABLE, "ended with status 3"),
        ("print('{}'); raise SystemExit(1)", Kind.UNUSABLE, "ended with status 1"),
        ("import os; os.kill(os.getpid(), 9)", Kind.UNUSABLE, "ended by signal 9"),
    ],
)
def test_whatever_goes_wrong_is_a_plain_failure(program: str, kind: Kind, why: str) -> None:
    fault = failure(program)
    assert (fault.kind, fault.why) == (kind, why)


@pytest.mark.parametrize(
    "program",
    [
        "import time; time.sleep(60)",
        "import sys, time; sys.stdout.close(); time.sleep(60)",
        "import time\nwhile True: print('x', flush=True); time.sleep(0.01)",
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)",
    ],
)
def test_a_program_that_does_not_end_is_ended(program: str) -> None:
    begun = time.monotonic()
    assert failure(program, 0.3).kind is Kind.TIMED_OUT
    assert time.monotonic() - begun < 50


def test_what_it_started_is_ended_with_it(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    child = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    assert failure(program, 2).kind is Kind.TIMED_OUT
    if note.exists():  # a slow machine may not have come so far
        pid, end = int(note.read_text()), time.monotonic() + 60
        while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
            time.sleep(0.01)
        assert not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text()


def test_what_it_leaves_behind_holds_nobody_up() -> None:
    program = "import os, sys, time\nif os.fork() == 0: time.sleep(30); os._exit(0)\nprint('{}'); sys.stdout.flush()"
    begun = time.monotonic()
    assert run(program).text.strip() == "{}"
    assert time.monotonic() - begun < 25


def test_no_shell_reads_the_command_and_no_report_its_arguments() -> None:
    assert command_of("exec:./reply.py --name 'a b' $HOME; ls") == ["./reply.py", "--name", "a b", "$HOME;", "ls"]
    assert command_of("exec:'open") == command_of("exec: ") == []
    model = ProgramModel(("/home/me/reply.py", "--key", "secret"))
    assert model.name == "exec:reply.py"


def test_a_signal_that_comes_as_it_starts_leaves_nobody_behind(tmp_path: Path) -> None:
    pipe = tmp_path / "held"
    os.mkfifo(pipe)
    night = f"""
import os, signal, subprocess, sys
from pipelines.extract.llm.program import run_program

class Signalled(subprocess.Popen):
    def __init__(self, *given, **how):
        super().__init__(*given, **how)
        open({str(pipe)!r}).close()  # it runs
        os.kill(os.getpid(), signal.SIGTERM)

signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
subprocess.Popen = Signalled
run_program("exec", ["sh", "-c", "exec > {pipe}; exec sleep 600"], "", 60)
"""
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert subprocess.run([sys.executable, "-c", night], check=False).returncode == 143
        assert select.select([reading], [], [], 20)[0], "it holds its output, so it runs on"
        assert os.read(reading, 1) == b""
    finally:
        os.close(reading)
