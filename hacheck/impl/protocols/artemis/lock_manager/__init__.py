"""Replication in which a lock and a number decide who may serve instead of votes; and the service that has both."""
