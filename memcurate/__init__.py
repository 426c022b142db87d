"""memcurate: the nightly curation of an AI agent's memory. `from memcurate import Memory` embeds it.

The code is in the package `pipelines`, from which everything can be imported, too.
"""

from pipelines import Memory, __version__

__all__ = ["Memory", "__version__"]
