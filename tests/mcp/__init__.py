"""The tools for assistants."""
