"""A module for each command: what it takes on the command line, and whom it asks to do it."""
