"""Review: decides what becomes of a candidate, given the memory and whose word it is.

Others call `review`, `verification`, `outcomes` and the gate in `trust`; they get rulings.
It may import store, search and extract.
"""
