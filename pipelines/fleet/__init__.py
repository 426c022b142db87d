"""A fleet: many memories on remotes, curated every night by many workers under one budget (the extra `fleet`).

A queue in PostgreSQL (Procrastinate) holds one job a memory and night; each job runs `curate night` as a child.
Others call `Fleet`, `work`, `sweep` and `fleet_settings`; a night knows of its worker only by a socket.
It may import store, search, extract and night, but neither the view nor cli.
"""
