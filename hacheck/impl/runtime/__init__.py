"""The real runtime: each member of a cluster is a process of its own, with sockets, a database and lock files."""
