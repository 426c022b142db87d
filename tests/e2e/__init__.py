"""Tests with the real Claude Code, Codex, Gemini CLI and OpenClaw, against a local server; `make e2e` runs them."""
