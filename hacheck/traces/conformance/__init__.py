"""Whether a log is one that the model could have written: the states that explain it so far, record by record."""
