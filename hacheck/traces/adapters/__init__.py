"""Log adapters: descriptions in TOML of how lines of a log become records, and the engine that applies them.

`description` holds the content of such a file, `adapter_files` reads it, `entries` splits the lines of one log into
entries, and `logs` puts the logs of a trace together. An adapter knows no model: an event has the words and numbers of
its line.
"""
