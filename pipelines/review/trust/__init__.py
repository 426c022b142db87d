"""Whose word a candidate rests on, what in it instructs, what reads like an attack: the gate before the documents."""
