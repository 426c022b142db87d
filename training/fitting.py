"""Logistic regression with numpy alone: small, exact, and the same every time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_STEPS, _ENOUGH, _LARGEST = 40, 1e-5, 2.0


def fit(rows: Floats, truth: Floats, weights: Floats, penalty: Floats) -> Floats:
    """Return the coefficients that minimise the weighted log loss plus `penalty / 2 × coefficient²`.

    Newton's method, its steps cut short at first, so that it cannot run away.

    Args:
        rows: (n, d), a column of ones included.
        truth: (n,), 1 or 0.
        weights: (n,), how much each row counts.
        penalty: (d,).
    """
    found = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        chance = sigmoid(rows @ found)
        slope = rows.T @ (weights * (chance - truth)) + penalty * found
        bend = weights * chance * (1 - chance)
        step = np.linalg.solve((rows * bend[:, None]).T @ rows + np.diag(penalty + 1e-9), slope)
        largest = float(np.abs(step).max())
        found = found - step * min(1.0, _LARGEST / max(largest, 1e-12))
        if largest < _ENOUGH:
            break
    return found


def calibrated(odds: Floats, truth: Floats, weights: Floats) -> tuple[float, float]:
    """Return the slope and the shift that make log odds of rows left out of a fit into honest ones."""
    rows = np.column_stack([odds, np.ones(len(odds))])
    slope, shift = fit(rows, truth, weights, np.array([1e-3, 1e-3]))
    return float(np.clip(slope, 0.1, 3.0)), float(shift)


def sigmoid(odds: Floats) -> Floats:
    """Return the chances that log odds stand for."""
    chance: Floats = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    return chance
