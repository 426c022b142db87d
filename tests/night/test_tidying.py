"""A document that was brought under its cap stays under it, whatever its front matter says of what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipelines.night.caps import with_caps_applied
from pipelines.settings import load_settings
from pipelines.store.snapshot import read_snapshot

if TYPE_CHECKING:
    from tests.conftest import Memory


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.torture)])
def test_what_is_under_its_cap_stays_so(memory: Memory, step: int) -> None:
    memory.write("Logs/2026-03-11.md", "".join(f"- Decision: crate {n} goes to shelf {n * n}\n" for n in range(60)))
    memory.curate("run", "--now", "2026-03-12T02:00")
    path, settings = "Areas/general.md", load_settings(memory.root)
    memory.write(path, memory.read(path).replace("kind: area\n", "kind: area\nnote: old\n"))
    snapshot = read_snapshot(memory.root)
    for cap in range(4100, 4400, step):
        capped = settings.model_copy(update={"caps": settings.caps.model_copy(update={"document": cap})})
        once = with_caps_applied(snapshot.documents, snapshot, capped)
        assert once.documents[path].size <= cap
        again = with_caps_applied(once.documents, snapshot, capped)
        assert (again.moved, again.documents) == ((), once.documents)
