"""Embedders turn text into vectors, on this machine or at a remote address, behind one protocol."""
