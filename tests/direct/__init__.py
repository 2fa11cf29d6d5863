"""The direct interpreter: a second meaning of the language, and what it finds in states by itself."""
