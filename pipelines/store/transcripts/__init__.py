"""Session transcripts: the raw JSONL of an agent's sessions, parsed into the turns of people and agents."""

from __future__ import annotations

from pipelines.store.transcripts.acts import Act, Acts
from pipelines.store.transcripts.reader import FAULTS, Transcript
from pipelines.store.transcripts.records import Role, Turn

__all__ = ["FAULTS", "Act", "Acts", "Role", "Transcript", "Turn"]
