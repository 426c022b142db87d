"""Extraction: who reads the new entries of the logs (rules or language models), and the check of what they propose.

Others ask with `extract_days`, choose a reader with `choose_models`, and get candidates (`extraction`).
Stands on store and search.
"""
