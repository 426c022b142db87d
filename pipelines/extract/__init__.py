"""Extraction: the rules or language models read the new entries of the logs, and their proposals are checked.

Others call `extract_days`, choose a reader with `choose_models`, and get candidates (`extraction`).
It may import store and search.
"""
