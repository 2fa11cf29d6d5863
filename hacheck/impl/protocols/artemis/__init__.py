"""HornetQ and ActiveMQ Artemis: brokers in live-backup pairs, over a shared store or with replication.

`system` has the two systems; `shared_store` and `replication` take a broker's inputs, `shared_states` and
`replication_states` are the protocols as tables; `serving`, `journal` and `client` are what both have in common.

`client_system` has the client library over brokers with a shared store: `client_library` and its table `client_states`,
`client_applications` that use it, `sessions` on the side of the broker. `lock_manager_system` has replication in which
a lock and a number decide instead of votes: `lock_manager_activation` says who may serve; `lock_manager` is the
service.

`scale_down_system` has servers that scale down when they are stopped, over stores of their own; `colocated_system` has
processes that run backups for each other: `colocated_hosting` keeps the servers of one process apart.

Not here: the lease in a database.
"""
