"""The memory on disk: Markdown, items, logs, the snapshot, the change set, the journal, git, secrets, transcripts.

Others read with `snapshot`, `document`, `log` and `git`, and write through `journal` alone.
Knows no model and no index. Stands on no other room.
"""
