"""Search: what the index contains, and how it is split, stored, embedded and ranked. The index is derived from files.

Others build it with `build`, query it with `query`, and choose an embedder with `embed`.
It may import store.
"""
