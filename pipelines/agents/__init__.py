"""What connects agents to a memory: capture of sessions, adoption of notes, `curate install`, timers.

Others call `capture`, `adopt_copy`, `adopt_in_place` and the plans in `targets`; only `settings_files` writes settings.
It may import store, search, extract and review.
"""
