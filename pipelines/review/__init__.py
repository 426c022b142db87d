"""Review: what becomes of a candidate, given what the memory holds and whose word it is.

Others call `review`, `llm_review`, `item_links`, `close_todos` and the gate in `trust`; they get verdicts back.
Stands on store, search and extract.
"""
