"""Search: what is read into the index, how it is cut, kept, embedded and ranked. The index is derived from the files.

Others build it with `build`, ask it with `query`, and choose who makes vectors with `embed`.
Stands on store.
"""
