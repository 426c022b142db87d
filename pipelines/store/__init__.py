"""The memory on disk: Markdown, items, logs, the snapshot, the change set, the journal, git, secrets, transcripts.

Other rooms read through `snapshot`, `document`, `log` and `git`, and write only through `journal`.
This room knows neither models nor the index, and depends on no other room.
"""
