"""Runs of a model written as traces: as they would be logged, or damaged on purpose, with the truth beside them."""
