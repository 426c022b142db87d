"""An embedder for tests: a hashed bag of words, so that texts with words in common are near, always the same."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import ModelFailed

# Words that mean the same share a place, as they nearly would with a real model, and say more than others.
SAME = {"boat": "ship", "vessel": "ship", "cheerful": "happy", "glad": "happy", "physician": "doctor"}


class Bag:
    """Counts what it was asked; a text that holds `poison` makes its batch fail while `failing` is set."""

    def __init__(self, name: str = "test:bag", dimension: int = 64) -> None:
        self.name, self.dimension, self.failing = name, dimension, True
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.failing and any("poison" in text for text in texts):
            raise ModelFailed("bag", "was poisoned")
        self.asked += texts
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self.dimension, np.float32)
        for word in re.findall(r"\w+", text.lower()):
            place = hashlib.sha256(SAME.get(word, word).encode()).digest()
            weight = 2 if word in SAME or word in SAME.values() else 1
            vector[int.from_bytes(place[:4], "little") % self.dimension] += weight if place[4] & 1 else -weight
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector
