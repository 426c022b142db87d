"""What a merge cannot decide is asked in Review.md: one question for each file, which shows both versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.store.review_queue import with_entry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.store.document import Document
    from pipelines.store.merge_pages import Disputed


DONE: Final = "done: it is as it should be; edit it before, if it is not"
_MOST_QUOTED = 20
"""Longer versions are in git."""


def with_questions(
    documents: Mapping[str, Document],
    disputed: Sequence[Disputed],
    why: str,
    commits: Sequence[str],
    today: str,
) -> dict[str, Document]:
    """Return the documents with a question in Review.md about each file with something disputed.

    Args:
        documents: every document by path.
        disputed: what is disputed.
        why: how it came to that, as the predicate of a sentence about the file.
        commits: the commits that have the versions.
        today: the memory's day.
    """
    after = dict(documents)
    for path in sorted({one.path for one in disputed}):
        rows: list[str] = []
        for one in disputed:
            if one.path == path:
                rows += [one.what, ""]
                for version in one.versions:
                    quoted = [f"> {line.replace('<!--', '&lt;!--')}" for line in version[:_MOST_QUOTED]]
                    rows += [*quoted, *["> …"] * (len(version) > _MOST_QUOTED), *["> (deleted)"] * (not version), ""]
        shows = " and ".join(f"`git show {commit}:./{path}`" for commit in commits)
        body = "\n".join([*rows, f"Git has it: {shows}."])
        after = with_entry(after, "merge", today, f"{path} {why}", body, [DONE])
    return after
