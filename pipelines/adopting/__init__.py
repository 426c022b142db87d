"""Adopting notes that exist as a memory: what is found, which kind it is, what would become what, and the copy."""
