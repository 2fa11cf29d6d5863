"""Which time constants are safe: every combination explored, and the region as inequalities."""
