"""Views of runs: what pictures and pages are made from."""
