"""Checking traces at any scale: on the cores of one machine, on a Spark cluster, while the records come in.

A driver reads, orders and distributes; it knows nothing of models. `contract` says what it asks of a checker.
"""
