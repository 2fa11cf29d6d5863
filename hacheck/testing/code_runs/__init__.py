"""Runs of code as views: what a simulator or a schedule did, ready to be drawn as runs of a model are."""
