"""Whole clusters from one seed: virtual time, a network, clocks, disks, locks, and what goes wrong with them.

`running.run` is where to begin.
"""
