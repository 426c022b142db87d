"""The page: a memory in the owner's browser. It only reads; every change runs a verb.

Others call `serve` and pass it the verbs: nothing here writes.
It may import every room but cli.
"""
