"""Items as a table, filtered and sorted; with words, what a search finds."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from pipelines.errors import CurateError
from pipelines.queries.search_settings import searched
from pipelines.search.filters import Filters
from pipelines.search.found import LITTLE
from pipelines.search.query import SearchRequest
from pipelines.store.item import ItemType, Status, Trust
from pipelines.store.layout import REVIEW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.view.pages import MemoryReader, Values

_ALL = "all"
_SORTED = ("text", "type", "page", "due")
"""What items are sorted by, beside the newest first."""
_ROWS = 50


def items(reading: MemoryReader, params: Mapping[str, str]) -> Values:
    """Show the items that the filters leave, or the results of a search.

    Args:
        reading: the memory.
        params: `q` and the filters, each optional; `sort`, a column, or `-` and it for the other way; `from`, the first
            row.
    """
    on = {key: value for key, value in params.items() if value.strip()}
    asked = defaultdict(str, on)
    begin = int(asked["from"][:9]) if asked["from"].isdecimal() else 0
    found: Values = {"hits": (), "remarks": (), "fault": "", "rows": (), "total": 0}
    try:
        if asked["q"]:
            kinds, trusts = ((asked[key],) if asked[key] else () for key in ("type", "trust"))
            filters = Filters(types=kinds, project=asked["page"], trusts=trusts)
            how = SearchRequest(filters=filters, overruled=bool(asked["overruled"]))
            hits, notes, how_sure = searched(reading.root, asked["q"], _ROWS, how)
            found |= {"hits": hits, "remarks": [*notes, LITTLE] if hits and how_sure == "little" else notes}
        else:
            rows = _rows(reading, asked)
            found |= {"rows": rows[begin : begin + _ROWS], "total": len(rows)}
    except CurateError as why_not:  # the form keeps its values
        found["fault"] = str(why_not)
    further = begin + _ROWS if found["total"] > begin + _ROWS else 0
    return found | {
        "title": asked["q"] or "Items", "asked": asked, "homes": reading.homes,
        "filters": [
            ("type", "Type", [*ItemType]),
            ("page", "Page", sorted({one.title for one in reading.documents.values() if one.items})),
            ("trust", "Whose word", [*Trust]),
            *([("overruled", "What is over", ["too"])] if asked["q"] else
              [("status", "Status", [*Status, _ALL]), ("due", "Due", ["any", "overdue", "ahead"])]),
        ],
        "more": urlencode({**on, "from": further}) if further else "",
        "sorted": lambda key: urlencode({**on, "sort": f"-{key}" if asked["sort"] == key else key, "from": 0}),
    }  # fmt: skip


def _rows(reading: MemoryReader, asked: Mapping[str, str]) -> list[Values]:
    """Return the items that the filters leave, sorted: each `item`, its page as `home`, and its columns."""
    today, status = reading.today, asked["status"]
    rows: list[Values] = []
    for one in reading.beliefs.holdings:
        item, home = one.item, reading.documents[one.path]
        fields = {"type": item.type, "page": home.title, "trust": item.trust}
        dues = {"", "any", "overdue" if item.due < today else "ahead"} if item.due else {""}
        fits = status in {item.status, _ALL} if status else item.active and one.path != REVIEW
        if fits and asked["due"] in dues and all(asked[key] in {"", value} for key, value in fields.items()):
            rows.append({**fields, "text": item.text, "due": item.due, "item": item, "home": home})
    column, down = asked["sort"].removeprefix("-") or "due", asked["sort"].startswith("-")
    rows.sort(key=lambda row: row["item"].since, reverse=not (down and column == "since"))
    rows.sort(key=lambda row: row[column].casefold() if column in _SORTED else "", reverse=down)
    rows.sort(key=lambda row: column == "due" and not row["due"])
    return rows
