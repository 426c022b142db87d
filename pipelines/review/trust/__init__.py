"""Whose word a candidate rests on, and what in it looks like an attack: the gate before the documents."""
