"""The night: its plan, its run and its report; changes by hand, undo, replay and sync, which take the same way.

Others call `run_night`, `manual` and `undo`, and read `report` and `run_history`.
Stands on store, search, extract, review and agents.
"""
