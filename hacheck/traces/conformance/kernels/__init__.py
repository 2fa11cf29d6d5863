"""The loops that follow logs, in the kernel language, and the places in memory that they and Python share."""
