"""The start page: the context as text or JSON, cut to what a hook may answer, and kept for the next session."""

from __future__ import annotations

from datetime import timedelta

from pipelines.night.report import TRAVELLING
from pipelines.queries.startup.context import LOOKS_BACK, TITLES, ContextPart, ContextRequest, assemble, logs_by_day
from pipelines.queries.startup.kept import HOOK_CHARACTERS, HOOKS, LEAST_BUDGET, keep_page, stamp, units
from pipelines.store.days import day_before, read_days
from pipelines.store.files import list_files
from pipelines.store.layout import (
    BRIEFING,
    FOLDERS,
    ITEMS,
    NOTES,
    NOTES_FILE,
    PARTIAL,
    PRIVATE,
    SETTINGS,
    SOUL,
    USER,
    log_path,
)
from pipelines.store.snapshot import document_paths
from pipelines.store.user_layout import layout_of

_HOOK_BUDGET = 2800  # tokens that a hook's longest answer in prose has, about; what comes out longer is cut again


def made_page(request: ContextRequest, form: str, asked: str, *, keeps: bool) -> str:
    """Return the context as text, for a hook no longer than its answer may be; keep it for who asks the same again.

    Args:
        request: what the session asks for.
        form: one of `FORMATS`.
        asked: what it is kept under.
        keeps: whether it may be used again; only that a session asked is noted otherwise.
    """
    stamps = _stamps(request) if keeps else []
    budget = min(request.budget, _HOOK_BUDGET) if form in HOOKS else request.budget
    while True:
        text = as_text(assemble(request._replace(budget=budget)))
        if form not in HOOKS or (size := units(text)) <= HOOK_CHARACTERS or budget == LEAST_BUDGET:
            break
        budget = max(LEAST_BUDGET, budget * HOOK_CHARACTERS // size - 10)
    keep_page(request.root, asked, text, stamps, request.now.timestamp())
    return text


def _stamps(request: ContextRequest) -> list[str]:
    """Return the stamps of all that the context rests on; none if its day is about to end."""
    root, days = request.root, read_days(request.root)
    if days.of(request.now + timedelta(hours=1)) != request.today:
        return []
    found = logs_by_day(root)
    known = [day_before(request.today, back) for back in range(LOOKS_BACK + 1)]
    logs = [one for day in known for one in (log_path(day), *found.get(day, ()))]
    pages = [SOUL, *document_paths(root), *list_files(root, ITEMS.rstrip("/"), ".jsonl"), *logs]
    paths = {SETTINGS, f"{PRIVATE}/runs", f"{PRIVATE}/secrets.jsonl", *pages, *FOLDERS, PARTIAL, TRAVELLING}
    if layout_of(root).home:
        paths |= {f"{NOTES}/{one}" for one in (NOTES_FILE, SOUL, USER, BRIEFING)}
    paths |= {one.rpartition("/")[0] for one in paths if "/" in one} - {PRIVATE}
    return [stamp(__file__), *(stamp(f"{root}/{one}") for one in sorted(paths))]


def as_text(parts: list[ContextPart]) -> str:
    """Return the context as text: each part under a line that names its file, and what was cut at its end."""
    return "\n\n".join(_shown(part) for part in parts)


def _shown(part: ContextPart) -> str:
    if part.name == "health":
        return part.text
    cut = ""
    if part.cut:
        entries = "1 entry was" if part.cut == 1 else f"{part.cut} entries were"
        where = "read the file, or " if part.path else ""
        how = "`curate items` lists all" if part.name == "open" else f"{where}use `curate search`"
        cut = f"({entries} cut to fit; {how}.)"
    title = f"=== {TITLES[part.name]}{f' ({part.path})' if part.path else ''} ==="
    return "\n".join(filter(None, (title, part.text, part.fault, cut)))
