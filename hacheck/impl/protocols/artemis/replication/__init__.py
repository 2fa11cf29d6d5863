"""Brokers that copy every change over the network; a quorum vote when one is lost."""
