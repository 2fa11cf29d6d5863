"""Two meanings of a system compared: the one that engines explore, and that of the direct interpreter."""
