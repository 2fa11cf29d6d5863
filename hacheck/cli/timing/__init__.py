"""`hacheck timing`: the safe region of time constants, shown."""
