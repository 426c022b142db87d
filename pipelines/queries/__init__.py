"""Questions that write nothing: why, history, health, doctor, and what a session starts with.

Others call the module named after the question; `startup` imports no library that takes time.
It may import every room but view and cli.
"""
