"""HornetQ and ActiveMQ Artemis: brokers in live-backup pairs, over a shared store or with replication.

`system` has the two systems; `shared_store` and `replication` are the brokers, `client` who uses them.
"""
