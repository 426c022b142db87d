"""Session transcripts: the raw JSONL of an agent's sessions, read as the turns that people and agents spoke."""

from pipelines.memory.transcripts.reader import FAULTS, Transcript
from pipelines.memory.transcripts.turns import Role, Turn

__all__ = ["FAULTS", "Role", "Transcript", "Turn"]
