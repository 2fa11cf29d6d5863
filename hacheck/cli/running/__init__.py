"""Carries out commands that run the reference implementation."""
