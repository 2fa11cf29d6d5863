"""Counters without an end: where the distance of their values may be forgotten, and how (record 0026)."""
