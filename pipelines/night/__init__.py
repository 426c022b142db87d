"""The night: its plan, run and report; manual changes, undo and sync, which work the same way.

Others call `run_night`, `manual` and `undo`, and read `report`.
It may import store, search, extract, review and agents.
"""
