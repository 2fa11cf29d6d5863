"""A run made ready to be shown: lanes, events, values, the parts of its property and their truth, and what else is
possible."""
