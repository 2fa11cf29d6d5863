"""Random specs that use every construct of the language, in systems of few states."""
