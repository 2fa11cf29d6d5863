"""Fiorano HA: two servers of which one serves, chosen with a lock on a file of a gateway machine.

`system` has the two systems. `replicated` takes the inputs of a server that has a copy of the database of its own,
`shared` those of one that has the database in common with its peer; `replicated_states` and `shared_states` are the
protocols as tables. `client_service`, `repository`, `lock_file` and `channel` are what both have in common, `client` is
the durable connection.

Not here: the gateway's echo port (the lock itself shows whether the gateway can be reached), transactions, and any
check of the access rights and principals that are stored and replicated.
"""
