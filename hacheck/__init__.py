"""hacheck: one text of a high-availability protocol, to verify, draw, test against and compare with logs."""

__version__ = "0.1.0"
