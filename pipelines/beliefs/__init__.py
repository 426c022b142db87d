"""Questions to the memory: why, since when, what rests on it, what was believed. They write nothing."""
