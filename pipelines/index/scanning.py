"""Who is near in meaning: all vectors compared with a question's, or, of very many, those whose signs are alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.index.signs import differing, fewest, signs_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pipelines.index.matrix import Matrix

LARGE: Final = 50_000
"""Vectors from which on their signs are looked at first; fewer are all compared in less time than that takes."""
_FEW: Final = 16_384
"""Vectors that are compared faster one by one than looked for by their signs."""
_LEAST: Final = 4096
_SHARE: Final = 64
_A_HIT: Final = 40
"""How many vectors are compared for each one that is wanted."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What was compared.

    Args:
        units: the units, rising, shape (n,).
        cosines: each one's cosine with the question, shape (n,).
        whole: whether these are all that may be found.
    """

    units: NDArray[np.int64]
    cosines: NDArray[np.float32]
    whole: bool


def scan(matrix: Matrix, question: NDArray[np.float32], allowed: list[int] | None, wanted: int) -> Scan:
    """Return the cosines of the units among which the nearest are; the interpreter is free meanwhile.

    Args:
        matrix: the vectors.
        question: a vector of length one.
        allowed: the units that may be found, rising; None for all.
        wanted: how many of the nearest are asked for.
    """
    import numpy as np  # noqa: PLC0415  a search by words alone needs none

    # Row by row: a product of matrices would wake a thread for each processor, and wait for the slowest.
    count = len(matrix.rows)
    units = np.arange(count) if allowed is None else np.asarray([unit for unit in allowed if unit < count], np.int64)
    if matrix.signs is None or count < LARGE:
        cosines = np.vecdot(matrix.rows, question)
        return Scan(units, cosines if allowed is None else cosines[units], whole=True)
    if len(units) > _FEW:
        counts = differing(matrix.signs, signs_of(question[None])[0])
        least = max(_LEAST, count // _SHARE, _A_HIT * wanted)
        if least < len(units):
            units = units[fewest(counts if allowed is None else counts[units], least)]
            return Scan(units, np.vecdot(matrix.rows[units], question), whole=False)
    return Scan(units, np.vecdot(matrix.rows[units], question), whole=True)


def nearest(scanned: Scan, count: int) -> list[int]:
    """Return the `count` units nearest in meaning, and all that are as near as the last."""
    picked = scanned.units
    if len(picked) > count:
        picked = picked[scanned.cosines >= _bar(scanned.cosines, count) - 1e-6]
    return list(picked.tolist())


def _bar(cosines: NDArray[np.float32], count: int) -> float:
    """Return a cosine that at least `count` reach: the best of blocks first, for that is quicker than sorting all."""
    import numpy as np  # noqa: PLC0415  as above

    size = max(1, len(cosines) // (8 * count))
    whole = len(cosines) // size * size
    heads = np.concatenate([cosines[:whole].reshape(-1, size).max(axis=1), cosines[whole:]])
    least = float(np.partition(heads, len(heads) - count)[len(heads) - count])
    few = cosines[cosines >= least]
    return float(np.partition(few, len(few) - count)[len(few) - count])


def exact(matrix: Matrix, question: NDArray[np.float32], units: list[int]) -> dict[int, float]:
    """Return the cosines of some units; those without a vector are left out.

    They are computed anew for the few, one by one: a scan adds up in an order that hangs on where a row stands, and the
    same words must score the same wherever they are.
    """
    known = [unit for unit in units if unit < len(matrix.rows)]
    rows = matrix.rows[known]
    scores: list[float] = (rows * question).sum(axis=1).tolist()
    return {unit: score for unit, score, row in zip(known, scores, rows, strict=True) if score or row.any()}
