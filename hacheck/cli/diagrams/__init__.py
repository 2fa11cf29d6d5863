"""State diagrams: what is drawn, where, and as what."""
