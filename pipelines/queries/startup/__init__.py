"""The startup context: what a new session reads first.

`fast` answers from the page that is kept, and imports nothing that takes time: no click, no dataclasses, no pathlib, no
pydantic. Where a file changed since, `context` puts it together anew from the store's documents.
"""
