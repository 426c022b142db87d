"""Whether a set-up can work: checks that change nothing, and the one next thing to do."""
