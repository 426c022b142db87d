"""Items as a table, filtered and sorted; with words, what a search finds."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from pipelines.errors import CurateError
from pipelines.queries.search_settings import searched
from pipelines.search.filters import Filters
from pipelines.search.found import LITTLE
from pipelines.search.query import SearchRequest
from pipelines.store.item import ItemType, Status, Trust
from pipelines.store.layout import REVIEW

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipelines.queries.item_graph import Holding
    from pipelines.store.document import Document
    from pipelines.view.pages import MemoryReader, Values

DUES: Final = ["any", "overdue", "ahead"]
_ALL = "all"
_ROWS = 50


def items(reading: MemoryReader, params: Mapping[str, str]) -> Values:
    """Show the items that the filters leave, or the results of a search.

    Args:
        reading: the memory.
        params: `q` and the filters, each optional; `sort`, a column, or `-` and it for the other way; `from`, the first
            row.
    """
    on = {key: value for key, value in params.items() if value.strip()}
    asked, documents, today = defaultdict(str, on), reading.documents, reading.today
    begin = int(asked["from"][:9]) if asked["from"].isdecimal() else 0
    found: Values = {"hits": None, "remarks": (), "fault": "", "rows": (), "total": 0}
    more = 0
    try:
        if asked["q"]:
            kinds, trusts = ((asked[key],) if asked[key] else () for key in ("type", "trust"))
            filters = Filters(types=kinds, project=asked["project"], trusts=trusts)
            how = SearchRequest(filters=filters, overruled=bool(asked["overruled"]))
            hits, notes, how_sure = searched(reading.root, asked["q"], _ROWS, how)
            found |= {"hits": hits, "remarks": [*notes, LITTLE] if hits and how_sure == "little" else notes}
        else:
            rows = [one for one in reading.beliefs.holdings if _fits(documents, today, asked, one)]
            column, down = asked["sort"].removeprefix("-") or "due", asked["sort"].startswith("-")
            rows.sort(key=lambda one: one.item.since, reverse=not (down and column == "since"))
            rows.sort(key=_COLUMNS.get(column, _COLUMNS["since"]), reverse=down)
            rows.sort(key=lambda one: column == "due" and not one.item.due)
            more = begin + _ROWS if len(rows) > begin + _ROWS else 0
            found |= {"rows": rows[begin : begin + _ROWS], "total": len(rows)}
    except CurateError as why_not:  # the form keeps its values
        found["fault"] = str(why_not)
    return found | {
        "title": asked["q"] or "Items", "asked": asked, "homes": reading.homes,
        "filters": [
            ("type", "Type", [*ItemType]),
            ("project", "Page", sorted({one.title for one in documents.values() if one.items})),
            ("trust", "Whose word", [*Trust]),
            *([("overruled", "What is over", ["too"])] if asked["q"] else
              [("status", "Status", [*Status, _ALL]), ("due", "Due", DUES)]),
        ],
        "more": urlencode({**on, "from": more}) if more else "",
        "sorted": lambda key: urlencode({**on, "sort": f"-{key}" if asked["sort"] == key else key, "from": 0}),
    }  # fmt: skip


def _fits(documents: Mapping[str, Document], today: str, asked: Mapping[str, str], one: Holding) -> bool:
    item, status, due = one.item, asked["status"], asked["due"]
    return (
        (status in {item.status, _ALL} if status else item.active and one.path != REVIEW)
        and asked["type"] in {"", item.type}
        and asked["trust"] in {"", item.trust}
        and asked["project"] in {"", documents[one.path].title}
        and (not due or (bool(item.due) and (due == "any" or (item.due < today) is (due == "overdue"))))
    )


_COLUMNS: Final[Mapping[str, Callable[[Holding], str]]] = {
    "text": lambda one: one.item.text.casefold(),
    "type": lambda one: one.item.type,
    "page": lambda one: one.path.casefold(),
    "due": lambda one: one.item.due,
    "since": lambda _: "",
}
