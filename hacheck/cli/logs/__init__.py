"""Carries out commands that read logs or make them, and shows what was found."""
