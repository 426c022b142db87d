"""`python -m pipelines.commands` is `curate`."""

from pipelines.commands import main

main()
