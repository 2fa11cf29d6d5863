"""The portable engine: the lowered form printed as Python. It runs everywhere and is what the native one is tested
against."""
