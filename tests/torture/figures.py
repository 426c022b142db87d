"""The figures of a torture run: every series adds its row, and the last word of the run is their sum."""

import json
import os
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import pytest

FOLDER: Final = "TORTURE_FIGURES"


@dataclass
class Series:
    """One series of points.

    Args:
        promise: what was tried, as the table names it.
        tried: points at which something was injected, or a run was done.
        fired: those at which the injection fired; no other counts.
        lost: those after which a byte of somebody's text was gone or torn.
        converged: those after which one plain run came to what an undisturbed night leaves.
        faults: what was wrong, a line each.
    """

    promise: str
    tried: int = 0
    fired: int = 0
    lost: int = 0
    converged: int = 0
    faults: list[str] = field(default_factory=list)

    def point(self, name: str, faults: list[str], *, lost: bool = False) -> None:
        """Count one point that fired."""
        self.fired += 1
        self.lost += lost
        self.converged += not faults
        self.faults += [f"{name}: {fault}" for fault in faults]

    def close(self) -> None:
        """Add the series to the figures of the run, and fail where something was wrong."""
        if folder := os.environ.get(FOLDER):
            row = asdict(self) | {"faults": len(self.faults)}
            (Path(folder) / f"{uuid.uuid4().hex}.json").write_text(json.dumps(row))
        if self.faults or self.lost:
            pytest.fail("\n".join([f"{self.promise}: {self.lost} lost", *self.faults]), pytrace=False)
        assert self.fired, "no injection fired, so nothing is proven"


def table(folder: Path) -> list[str]:
    """Return the figures as a table in Markdown, a row for each promise."""
    rows: dict[str, list[int]] = {}
    for file in folder.glob("*.json"):
        row = json.loads(file.read_bytes())
        told = [row["tried"], row["fired"], row["lost"], row["converged"]]
        rows[row["promise"]] = [a + b for a, b in zip(rows.get(row["promise"], [0] * 4), told, strict=True)]
    if not rows:
        return []
    lines = ["| series | points tried | fired | lost | converged |", "|---|---:|---:|---:|---:|"]
    return lines + [f"| {name} | {' | '.join(f'{n:,}' for n in row)} |" for name, row in sorted(rows.items())]
