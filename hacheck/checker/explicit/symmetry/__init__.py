"""The function that finds the representative of a state, written in the kernel language."""
