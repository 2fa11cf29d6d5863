"""The public face: what `import hacheck` gives to programs, from loading a spec to comparing logs with it.

`hacheck/__init__.py` loads from here on first use. Results are plain frozen data; each has `to_dict()`, which is the
document that the command writes with `--json`.
"""
