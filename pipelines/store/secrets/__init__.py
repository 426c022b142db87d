"""Secrets: what they look like, where they are, and what replaces them."""
