"""Recap: the episodes of some days, in order, of one project or of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pipelines.errors import UsageFault, did_you_mean
from pipelines.night.file_items import Catalog
from pipelines.night.sentences import completed, episodes_in, former_of, shortened
from pipelines.store.change_set import items_by_id
from pipelines.store.generated import Sentence, sentences_under, still_rests
from pipelines.store.layout import episode_path, slug
from pipelines.text import ARROW

if TYPE_CHECKING:
    from pipelines.store.document import Documents


class Episode(NamedTuple):
    """What happened on one day.

    Args:
        day: the day.
        sentences: the sentences about it, each with the items that it rests on.
    """

    day: str
    sentences: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        """All its sentences."""
        return " ".join(one.text for one in self.sentences)

    def to_json(self) -> dict[str, Any]:
        """Return it as what `json` can write."""
        sentences = [{"text": one.text, "items": [*one.ids]} for one in self.sentences]
        return {"day": self.day, "path": episode_path(self.day), "sentences": sentences}


def recap(documents: Documents, since: str, until: str, project: str = "") -> list[Episode]:
    """Return the episodes of some days, in order.

    Args:
        documents: every document by path.
        since: the first day.
        until: the last one.
        project: a page's title or file name, for only what rests on its items.

    Raises:
        UsageFault: there is no page of that name.
    """
    page = Catalog(documents).names.get(slug(project), "") if project else ""
    if project and not page:
        near = did_you_mean(slug(project), Catalog(documents).names)
        raise UsageFault(
            f"There is no page called {project}.", near or "`curate items` lists the pages that hold items."
        )
    places = items_by_id(documents)
    items = {ident: item for ident, (path, item) in places.items() if path == page}
    found = []
    for day, lines in episodes_in(documents):
        if since <= day <= until:
            ours = {one.text: one for _, one in sentences_under(documents[episode_path(day)], day)}
            sentences = [ours.get(line) or Sentence(line) for line in lines]
            if page:  # code rewrites its own sentences on several pages for this one
                mine = [one for one in sentences if not items.keys().isdisjoint(one.ids)]
                by_code = [items[ident] for one in mine if one.by_code for ident in one.ids if ident in items]
                own = [one for one in mine if not one.by_code]
                sentences = completed(own, by_code, day, frozenset(), former_of(items.values()))
            held = {ident: item for ident, (_, item) in places.items()}
            whole = (one for one in sentences if one.by_code and still_rests(one, held, with_status=False))
            cited = ((one, held[ident]) for one in whole for ident in one.ids if ident in held)
            # Code tells three of many, what took a place and not what it took, and an answer with its question.
            told = ((one, item) for one, item in cited if item.superseded_by not in one.ids and ARROW not in item.text)
            if left := sum(shortened(item) not in one.text for one, item in told):
                sentences.append(Sentence(f"And {left} more."))
            found += [Episode(day, tuple(sentences))] if sentences else []
    return found
