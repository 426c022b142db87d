"""The page: what a memory believes, in the owner's own browser. It reads; every change is a verb's own transaction.

Others call `serve`, and hand it the verbs: nothing here writes.
Stands on every room but cli.
"""
