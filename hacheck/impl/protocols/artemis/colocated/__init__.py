"""Processes that run backups for each other, asked for and counted."""
