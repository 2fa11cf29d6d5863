"""The kernel language: a restricted Python for the engine's own loops, its two translations, and kernels compiled."""
