"""The language server, and what editors get besides."""
