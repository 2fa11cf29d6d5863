"""What a counterexample rests on: it is tried without each fault, assumption and step; and the nearest good run."""
