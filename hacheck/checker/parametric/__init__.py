"""Proof for every number of nodes: the model in first-order logic, and Z3 as the prover."""
