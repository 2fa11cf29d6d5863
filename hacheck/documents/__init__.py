"""The JSON that commands write with `--json`: a data class for each document, from which its schema is made.

A document begins with its kind and the version of that kind: `{"document": "verify", "version": 1, …}`. Within a
version no key is removed, and none changes its type or its meaning; keys may be added. `catalogue` lists all kinds. The
schemas are in `docs/schema`.
"""
