"""The pages that hacheck makes, in a real browser."""
