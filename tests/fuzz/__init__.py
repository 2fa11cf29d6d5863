"""Damaged and random input of every kind that hacheck reads, and what it found once: see `__main__`."""
