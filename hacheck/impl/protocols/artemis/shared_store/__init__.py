"""Brokers over one store: lock files decide who serves."""
