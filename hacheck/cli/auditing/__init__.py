"""What `hacheck audit` does and shows."""
