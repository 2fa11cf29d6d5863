"""What a counterexample needs, and the nearest good run."""
