"""The derived search index: what is found in the memory's files, and how. It knows no model and is safe to delete."""
