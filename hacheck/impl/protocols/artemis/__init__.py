"""HornetQ and ActiveMQ Artemis: brokers in live-backup pairs, over a shared store or with replication.

`system` has the two systems; `shared_store` and `replication` take a broker's inputs, `shared_states` and
`replication_states` are the protocols as tables; `serving`, `journal` and `client` are what both have in common.

Not here: the lease in a database, the lock manager with its activation sequence, colocated backups, scale-down, XA, and
re-attaching to a session that is still there: a client that lost its connection makes a new session.
"""
