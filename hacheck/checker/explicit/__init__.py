"""Explicit-state search: every reachable state, one by one."""
