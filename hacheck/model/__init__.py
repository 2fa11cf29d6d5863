"""Meaning: the typed, frozen transition system of a `.ha` file and the interpreter that runs it."""
