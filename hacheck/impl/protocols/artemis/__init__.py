"""HornetQ and ActiveMQ Artemis: brokers in live-backup pairs, over a shared store or with replication.

`system` has the two systems; `shared_store` and `replication` take a broker's inputs, `shared_states` and
`replication_states` are the protocols as tables; `serving`, `journal` and `client` are what both have in common.

`scale_down_system` has servers that scale down when they are stopped, over stores of their own; `colocated_system` has
processes that run backups for each other: `colocated_hosting` keeps the servers of one process apart.

Not here: the lease in a database.
"""
