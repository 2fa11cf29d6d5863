"""Servers that hand over all that they have when they are stopped, over stores of their own."""
