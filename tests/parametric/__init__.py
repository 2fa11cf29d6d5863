"""Proofs for every number of nodes."""
