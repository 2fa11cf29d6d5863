"""Systems built by hand, for tests that need a model without the language."""
