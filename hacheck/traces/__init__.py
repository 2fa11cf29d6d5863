"""Evidence: what real nodes logged, and whether the model has a run that explains it.

Here live the schema of traces, the adapters that make traces of logs, the conformance kernel, which carries
the set of model states that could explain a log so far, and the drivers that run the kernel on one machine or
on a cluster.
"""
