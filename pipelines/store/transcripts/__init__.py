"""Session transcripts: the raw JSONL of an agent's sessions, parsed into the turns of people and agents."""
