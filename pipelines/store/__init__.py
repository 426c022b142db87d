"""The memory on disk: Markdown, items, logs, the snapshot, the change set, the journal, git, secrets, transcripts.

Others read through `snapshot`, `document`, `log` and `git`, and write only through `journal`.
It knows neither models nor the index, and imports no other room.
"""
