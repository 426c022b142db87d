"""`python -m curate_fleet` does what `curate-fleet` does."""

from curate_fleet.commands import main

main()
