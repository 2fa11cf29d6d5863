"""Runs of models carried out on real processes."""
