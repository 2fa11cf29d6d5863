"""HornetQ and ActiveMQ Artemis: brokers in live-backup pairs, over a shared store or with replication.

`system` has the two systems. Each folder is one way to be highly available: `server` takes a broker's inputs, `states`
is the protocol as a table. The modules beside the folders are what they have in common: a broker that serves, its
journal, its sessions, a client.

| folder | what is in it |
|---|---|
| `shared_store`, `replication` | the two kinds of pairs |
| `client_library` | the client library with its table `states`, and applications that use it |
| `lock_manager` | replication in which a lock and a number decide instead of votes: `activation` says who may serve |
| `scale_down` | servers that hand over all that they have when they are stopped |
| `colocated` | processes that run backups for each other: `hosting` keeps the servers of one process apart |

Not here: the lease in a database.
"""
