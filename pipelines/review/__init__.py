"""Review: what becomes of a candidate, given what the memory holds and whose word it is.

Others call `review`, `llm_review`, `verification`, `outcomes`, `item_links` and the gate in `trust`; they get rulings.
Stands on store, search and extract.
"""
