"""One module for each command of `hacheck`."""
