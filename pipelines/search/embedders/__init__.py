"""Embedders: what turns text into vectors, here on this machine or at somebody's address, behind one protocol."""
