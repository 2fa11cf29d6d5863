"""What the machine has for the engine: a compiler, object code kept and loaded, memory, threads."""
