"""The same commit, logs and answers of models give the same bytes, whatever happened in the run."""

from pathlib import Path

import pytest

from pipelines.usage import FailureKind as Kind
from tests.conftest import Memory
from tests.night.test_with_models import DAYS, LOG, curate, reply, scripted


@pytest.mark.parametrize("kind", [None, Kind.UNUSABLE, Kind.DOWN])
def test_twins_come_to_the_same_commit(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: Kind | None
) -> None:
    twin = Memory(tmp_path / "twin", capsys)
    memory.git("clone", "--quiet", ".", str(twin.root))
    for one in (memory, twin):
        one.write(f"Logs/{DAYS[0]}.md", LOG.format(day=DAYS[0], n=1))
        curate(one, scripted(lambda at, call: kind if kind and at == 1 else reply(call)))
        curate(one, scripted(lambda _, call: reply(call)))
    assert memory.git("rev-parse", "HEAD") == twin.git("rev-parse", "HEAD")
    assert "Harbour uses Terraform" in memory.curate("items")
