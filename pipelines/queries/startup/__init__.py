"""The startup context: what a new session reads first, as a whole process within three bare starts of Python.

Nothing here imports what takes time to import: no click, no dataclasses, no pathlib, no pydantic. Only where the small
cache of the settings is missing or stale are the settings themselves loaded.
"""
