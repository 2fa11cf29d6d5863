"""Carries out commands that explore protocols, and shows what was found."""
