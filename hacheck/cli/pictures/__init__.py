"""Pictures of runs for a terminal, and as text for other tools."""
