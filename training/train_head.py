"""Train the head of the rules extractor and write its weights: `make train-head DATA=DIR`.

usage: train_head.py DATA

DATA holds `Logs/` and `gold.jsonl`: days whose items are known and stand there without a label. Every third day of it
is held back: no weight, no threshold and no calibration sees it. The corpus beside this script is learned from as a
whole; its figures are of files left out in turn. Needs the local embedder (`curate models fetch`).
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from fitting import calibrated, fit
from labelled_days import FORMAL, TYPES, LabelledDay, read_corpus, read_days

from pipelines.models.embedders.choose import choose_local
from pipelines.models.rules.features import Scene, features
from pipelines.models.rules.head import MEDIUM, shown, tell, weighed, worth_a_vector
from pipelines.models.rules.vocabulary import PROPOSED, VOTE
from pipelines.models.rules.weights import EMBEDDER, FILE, read_weights

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from pipelines.models.embedding import Embedder
    from pipelines.models.rules.weights import Weights

    Floats = NDArray[np.float64]

CORPUS: Final = Path(__file__).with_name("corpus")
FOLDS: Final = 5
HELD_BACK: Final = 3

# How much a day's remarks count for a voice. What DATA does not mark (rules, risks) it only weakly says is none.
_OURS, _OTHER_VOICE, _UNMARKED = 3.0, 0.3, 0.1
_GATE_PENALTY, _FORM_PENALTY = 10.0, {"own": 10.0, "spoken": 30.0}
# Few journals are there to learn from, and many minutes of one topic, whose words must not be learned.
_MEANING_PENALTY: Final = {"own": 100.0, "spoken": 1000.0}
_SCALE: Final = 20.0  # brings a vector's numbers to the size of the features
_FLOOR: Final = 0.15  # a feature that is nearly always the same is not blown up
# Copies of each day in which what was proposed, or the votes as well, cannot be seen: there are groups that do neither.
_BLINDED: Final = (
    (("proposal open", "like a proposal", "is a proposal"), 0.5),
    (("proposal open", "like a proposal", "is a proposal", "vote"), 0.5),
)


@dataclass(slots=True)
class Vectors:
    """An embedder that remembers: the folds ask for the same texts again."""

    embedder: Embedder
    known: dict[str, Floats] = field(default_factory=dict)

    def embed_documents(self, texts: Sequence[str]) -> Any:  # noqa: ANN401  an array
        """Return the vectors of texts, in order."""
        new = sorted({text for text in texts if text not in self.known})
        if new:
            self.known.update(zip(new, np.asarray(self.embedder.embed_documents(new), np.float64), strict=True))
        return np.array([self.known[text] for text in texts])

    def embed_query(self, text: str) -> Any:  # noqa: ANN401  an array
        """Return one vector."""
        return self.embed_documents([text])[0]

    @property
    def name(self) -> str:
        """The embedder's."""
        return self.embedder.name

    @property
    def dimension(self) -> int:
        """The embedder's."""
        return self.embedder.dimension


@dataclass(frozen=True, slots=True)
class Row:
    """One remark: its features, how the embedder is shown it, what it is, and how much it counts."""

    features: Mapping[str, float]
    text: str
    label: str
    weight: float
    ours: bool


def rows_of(days: Iterable[LabelledDay], voice: str, places: Mapping[str, Iterable[int]] | None = None) -> list[Row]:
    """Return the remarks that teach a voice; `places` names those of each day, or all that are weighed."""
    found = []
    for day in days:
        for at in places[day.name] if places is not None else weighed(day.scene):
            fits = day.scene.remarks[at].spoken == (voice == "spoken")
            weight = (_OURS if voice == "spoken" else 1.0) if day.ours else 1.0
            if not fits:
                weight = _OTHER_VOICE if voice == "own" and day.ours else 0.0
            if weight and day.labels[at] != FORMAL:
                found.append(Row(features(day.scene, at), shown(day.scene, at), day.labels[at], weight, day.ours))
    return found


def blinded(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, and their copies in which some features cannot be seen."""
    copies = list(rows)
    for names, weight in _BLINDED:
        for row in rows:
            seen = {name: 0.0 if name.startswith(names) else value for name, value in row.features.items()}
            copies.append(Row(seen, row.text, row.label, row.weight * weight, row.ours))
    return copies


def train(days: Sequence[LabelledDay], vectors: Vectors) -> dict[str, Any]:
    """Return the weights, as the file holds them, not calibrated yet."""
    told: dict[str, Any] = {"embedder": EMBEDDER}
    for voice in ("own", "spoken"):
        rows = blinded(rows_of(days, voice))
        told[voice] = {str(kind): {"gate": line(rows, kind)} for kind in TYPES}
        for one in told[voice].values():
            one |= {"form": one["gate"], "meaning": [0.0] * vectors.dimension}
    gates = read_weights(json.dumps(told))
    picked = {day.name: list(worth_a_vector(day.scene, gates)) for day in days}
    for voice in ("own", "spoken"):
        # A file of ours is small: all of it is learned from, picked or not.
        places = {day.name: list(weighed(day.scene)) if day.ours else picked[day.name] for day in days}
        rows = blinded(rows_of(days, voice, places))
        for kind in TYPES:
            told[voice][str(kind)] |= line(rows, kind, vectors, voice)
    return told


def line(rows: Sequence[Row], kind: str, vectors: Vectors | None = None, voice: str = "") -> dict[str, Any]:
    """Fit one type: by the features alone, or with the vectors."""
    names = list(rows[0].features)
    form = np.array([list(row.features.values()) for row in rows])
    middle, spread = form.mean(0), np.maximum(form.std(0), _FLOOR)
    columns, penalty = [(form - middle) / spread], [np.full(len(names), _FORM_PENALTY.get(voice, _GATE_PENALTY))]
    if vectors:
        meaning = vectors.embed_documents([row.text for row in rows])
        centre = meaning.mean(0)
        columns.append((meaning - centre) * _SCALE)
        penalty.append(np.full(meaning.shape[1], _MEANING_PENALTY[voice]))
    table = np.column_stack([*columns, np.ones(len(rows))])
    truth = np.array([row.label == kind for row in rows], np.float64)
    weights = np.array([row.weight * (1 if row.ours or kind in {"Decision", "Todo"} else _UNMARKED) for row in rows])
    found = fit(table, truth, weights, np.concatenate([*penalty, [1e-6]]))
    own = found[: len(names)] / spread
    bias = float(found[-1] - own @ middle)
    if not vectors:
        return {"bias": bias, "weights": dict(zip(names, map(float, own), strict=True))}
    turned = found[len(names) : -1] * _SCALE
    return {
        "form": {"bias": bias - float(turned @ centre), "weights": dict(zip(names, map(float, own), strict=True))},
        "meaning": [float(number) for number in turned],
    }


def cross_odds(days: Sequence[LabelledDay], vectors: Vectors) -> tuple[dict[str, Any], list[Weights]]:
    """Return the log odds of remarks by weights that did not see their day, and the weights of each fold."""
    odds: dict[str, Any] = {voice: {str(kind): ([], [], []) for kind in TYPES} for voice in ("own", "spoken")}
    folds = []
    for fold in range(FOLDS):
        weights = read_weights(json.dumps(train([d for at, d in enumerate(days) if at % FOLDS != fold], vectors)))
        folds.append(weights)
        for day in (day for at, day in enumerate(days) if at % FOLDS == fold):
            picked = worth_a_vector(day.scene, weights)
            rows = vectors.embed_documents([shown(day.scene, at) for at in picked]) if picked else ()
            for (at, found), vector in zip(picked.items(), rows, strict=True):
                spoken = day.scene.remarks[at].spoken
                for way in weights.of(spoken=spoken):
                    if day.labels[at] == FORMAL or not (day.ours or way.type in {"Decision", "Todo"}):
                        continue
                    seen = odds["spoken" if spoken else "own"][str(way.type)]
                    seen[0].append(way.form.at(found) + float(vector @ np.array(way.meaning)))
                    seen[1].append(float(day.labels[at] == way.type))
                    seen[2].append(1.0)
    return odds, folds


def with_calibration(told: dict[str, Any], scales: Mapping[tuple[str, str], tuple[float, float]]) -> dict[str, Any]:
    """Return weights whose log odds are scaled and shifted, rounded as they are written."""
    made: dict[str, Any] = {"embedder": told["embedder"]}
    for voice in ("own", "spoken"):
        made[voice] = {}
        for kind, one in told[voice].items():
            slope, shift = scales[voice, kind]
            made[voice][kind] = {
                "gate": _rounded(one["gate"], 1.0, 0.0),
                "form": _rounded(one["form"], slope, shift),
                "meaning": [round(number * slope, 3) for number in one["meaning"]],
            }
    return made


def _rounded(told: Mapping[str, Any], slope: float, shift: float) -> dict[str, Any]:
    weights = {name: round(weight * slope, 3) for name, weight in told["weights"].items()}
    return {"bias": round(told["bias"] * slope + shift, 3), "weights": weights}


def score(days: Sequence[LabelledDay], weights: Sequence[Weights], vectors: Vectors) -> list[str]:
    """Return lines of precision, recall and F1 by type, of days read by weights that did not see them."""
    right, kept, medium = Counter[str](), Counter[str](), Counter[str]()
    items = sum((day.items for day in days), Counter())
    for day, one in zip(days, weights, strict=True):
        for told in tell(day.scene.remarks, one, vectors):
            if day.labels[told.at] == FORMAL or not (day.ours or told.type in {"Decision", "Todo"}):
                continue
            kept[told.type] += 1
            right[told.type] += day.labels[told.at] == told.type
            medium["kept"] += told.chance >= MEDIUM
            medium["right"] += told.chance >= MEDIUM and day.labels[told.at] == told.type
    lines = []
    for kind in (*map(str, TYPES), "all"):
        hit, found, there = ((c.total() if kind == "all" else c[kind]) for c in (right, kept, items))
        if there:
            precision, recall = hit / max(1, found), hit / there
            f1 = 2 * precision * recall / (precision + recall) if hit else 0.0
            lines.append(f"  {kind:8}  items {there:4}  kept {found:4}  P {precision:.3f}  R {recall:.3f}  F1 {f1:.3f}")
    return [*lines, f"  of confidence medium: {medium['right']} of {medium['kept']} right"]


def without(day: LabelledDay, *patterns: re.Pattern[str]) -> LabelledDay:
    """Return a day as if nobody had said what a pattern matches."""
    left = [at for at, one in enumerate(day.scene.remarks) if not any(p.match(one.text) for p in patterns)]
    scene = Scene([day.scene.remarks[at] for at in left])
    return LabelledDay(day.name, scene, tuple(day.labels[at] for at in left), day.ours, day.items)


def main() -> None:
    """Train, write the weights, and print what they reach on days that they did not see."""
    if len(sys.argv) != 2:  # noqa: PLR2004  the script and the folder
        raise SystemExit("Name the folder with Logs/ and gold.jsonl: make train-head DATA=DIR")
    embedder = choose_local(os.environ)
    if embedder is None:
        raise SystemExit("The local embedder is not here; `curate models fetch` fetches it.")
    vectors = Vectors(embedder)
    corpus, data = read_corpus(CORPUS), read_days(Path(sys.argv[1]))
    held = [day for at, day in enumerate(data) if at % HELD_BACK == HELD_BACK - 1]
    seen = [*corpus, *(day for at, day in enumerate(data) if at % HELD_BACK != HELD_BACK - 1)]
    odds, folds = cross_odds(seen, vectors)
    scales = {(voice, kind): calibrated(*map(np.array, odds[voice][kind])) for voice in odds for kind in odds[voice]}
    print(
        "calibration",
        {f"{voice} {kind}": (round(slope, 2), round(shift, 2)) for (voice, kind), (slope, shift) in scales.items()},
    )
    told = with_calibration(train(seen, vectors), scales)
    FILE.write_text(
        json.dumps(told, separators=(",", ":")).replace('],"', '],\n"').replace('},"', '},\n"') + "\n", "utf-8"
    )
    weights = read_weights(FILE.read_text("utf-8"))
    cross = [rescaled(folds[at % FOLDS], scales) for at in range(len(seen))]
    journals = [(d, w) for d, w in zip(seen, cross, strict=True) if d.name.startswith("journal")]
    meetings = [(d, w) for d, w in zip(seen, cross, strict=True) if d.name.startswith("meeting")]
    minutes = [(d, w) for d, w in zip(seen, cross, strict=True) if not d.ours]
    for title, pairs in (
        ("the corpus' journals, each file by weights that did not see it", journals),
        ("the corpus' meetings, likewise", meetings),
        ("DATA, the days learned from, each by weights that did not see it", minutes),
        (f"DATA, the {len(held)} days held back", [(day, weights) for day in held]),
        ("the same, their proposals taken out", [(without(day, PROPOSED), weights) for day in held]),
        ("the same, their votes taken out as well", [(without(day, PROPOSED, VOTE), weights) for day in held]),
    ):
        print(title)
        print("\n".join(score([d for d, _ in pairs], [w for _, w in pairs], vectors)))
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")


def rescaled(weights: Weights, scales: Mapping[tuple[str, str], tuple[float, float]]) -> Weights:
    """Return the weights of a fold with the calibration that all folds gave."""
    told: dict[str, Any] = {"embedder": weights.embedder}
    for voice in ("own", "spoken"):
        told[voice] = {
            str(way.type): {
                "gate": {"bias": way.gate.bias, "weights": dict(way.gate.weights)},
                "form": {"bias": way.form.bias, "weights": dict(way.form.weights)},
                "meaning": list(way.meaning),
            }
            for way in weights.of(spoken=voice == "spoken")
        }
    return read_weights(json.dumps(with_calibration(told, scales)))


if __name__ == "__main__":
    main()
