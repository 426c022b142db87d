"""A fleet: many memories on remotes, curated every night by many workers under one budget.

A queue in PostgreSQL (Procrastinate) holds one job a memory and night; each job runs `curate run REMOTE` as a child. Of
memcurate it knows that command alone: its options, its exit codes, its report, and the socket on which it asks before
it spends.
"""

__version__ = "0.1.0"
