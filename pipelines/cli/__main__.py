"""`python -m pipelines.cli` is `curate`."""

from __future__ import annotations

from pipelines.cli import main

main()
