"""The `hacheck` command: reads what the user asks, runs it, and renders the answer. Knows no protocol."""
