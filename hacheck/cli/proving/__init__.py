"""`hacheck prove`: proofs for every number of nodes, shown."""
