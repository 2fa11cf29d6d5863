"""The protocols as running code, one package for each; each has a `System` by which runners know it."""
