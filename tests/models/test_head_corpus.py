"""The corpus that the head learns from: every mark stands behind a sentence that the rules do not read anyway."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

TRAINING = Path(__file__).resolve().parents[2] / "training"


def read_corpus(folder: Path) -> subprocess.CompletedProcess[str]:
    code = (
        "import json, sys; from collections import Counter; from pathlib import Path;"
        "from labelled_days import read_corpus;"
        "days = read_corpus(Path(sys.argv[1]));"
        "print(json.dumps(sum((day.items for day in days), Counter())))"
    )
    command = [sys.executable, "-c", code, str(folder)]
    return subprocess.run(command, cwd=TRAINING, capture_output=True, text=True, check=False)


def test_every_mark_of_the_corpus_is_behind_a_sentence() -> None:
    told = read_corpus(TRAINING / "corpus")
    assert told.returncode == 0, told.stderr
    counts = json.loads(told.stdout)
    assert counts.keys() == {"Decision", "Rule", "Todo", "Risk"}
    assert min(counts.values()) >= 50


def test_a_mark_behind_nothing_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "odd.md").write_text("- close the gate {Decision}\n\n{Todo}\n\n# Gate {Rule}\n")
    told = read_corpus(tmp_path)
    assert told.returncode == 1
    assert told.stderr.splitlines() == [
        "odd.md:3: {Todo} stands behind no sentence of its own",
        "odd.md:5: {Rule} stands behind no sentence of its own",
    ]
