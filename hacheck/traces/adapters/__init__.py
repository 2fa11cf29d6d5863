"""Log adapters: how lines of a log become records, told in TOML and carried out by one engine.

`description` is what a file of TOML says, `loading` reads it, `reading` takes the lines of one file apart, and `logs`
puts the files of a trace together. An adapter knows no model: an event has the words and numbers of its line.
"""
