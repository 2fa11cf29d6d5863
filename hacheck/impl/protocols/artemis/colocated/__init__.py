"""Processes that run backups for each other, requested and counted."""
