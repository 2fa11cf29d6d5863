"""Breadth-first search by several threads; shortest runs out of what it leaves; a search kept on disk."""
