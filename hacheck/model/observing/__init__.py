"""A system compared with its logs: where lines are written, and a system that reads their records."""
