"""What a session starts with holds no secret, though no night has been there yet; a plain day costs nothing."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipelines.queries.startup.read import redacted_log, suspicious
from pipelines.store.secrets.secret_rules import FILE
from tests.planting import Planter

if TYPE_CHECKING:
    from tests.conftest import Memory


def test_no_secret_is_taken_for_harmless() -> None:
    for rule in tomllib.loads(Path(FILE).read_text(encoding="utf-8"))["rule"]:
        assert suspicious(rule["true"].replace("¦", "")), rule["id"]
    assert all(suspicious(one.text) for one in Planter(9).plant(120))


@pytest.mark.parametrize(
    "text",
    [
        "- 22:30 **user:** Which? <!-- Sessions/2026-03-17/codex-3f2a9c1e-77aa.jsonl#L1~ab12 -->",
        "- Decision: Use Terraform. <!-- k7f3a9c2b10 since=2026-02-11 trust=self from=Logs/2026-02-11.md#L4~9c1e -->",
        "- 09:00 the key question came up again, and Ben has no token of esteem",
        "- 10:00 read https://example.org/a/b",
    ],
)
def test_what_days_are_full_of_brings_in_no_library(text: str) -> None:
    assert not suspicious(text)
    code = (
        "import sys\nfrom pipelines.queries.startup.read import redacted_log\n"
        "redacted_log(sys.argv[1])\nassert 'pipelines.store.secrets' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, text], check=True)


def test_the_context_shows_neither_secrets_nor_private_parts(memory: Memory) -> None:
    secret = Planter(3).password()
    memory.write(
        "Logs/2026-03-18.md", f"- 09:00 password: {secret}\n- 10:00 at <private>the doctor's</private> till ten\n"
    )
    memory.write("MEMORY.md", f"# Memory\n\nThe door: password={secret}\n")
    told = memory.curate("context", "--now", "2026-03-18T12:00")
    assert secret not in told
    assert "doctor" not in told
    assert "at [private] till ten" in told
    assert told.count("[redacted:password:") == 2


def test_a_log_that_is_read_from_its_middle_shows_no_rest_of_a_private_part() -> None:
    assert redacted_log("rest of it\n</private>\n- 10:00 on\n") == "[private]\n- 10:00 on\n"
