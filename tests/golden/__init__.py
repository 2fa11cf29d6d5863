"""Commands and the text they print."""
