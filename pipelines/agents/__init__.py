"""Agents and their surroundings: capture of sessions, adoption of notes, targets of `curate install`, timers.

Others call `capture`, `adopt_copy`, `adopt_in_place` and the plans in `targets`; `edit_files` writes.
Stands on store, search, extract and review.
"""
