"""`python -m pipelines.cli` is `curate`, without its fast paths."""

from __future__ import annotations

import sys

from pipelines.cli import main

sys.exit(main())
