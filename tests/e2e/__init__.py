"""Tests with the real programs of Claude Code and Codex, which talk to a local server; `make e2e` runs them."""
