"""Tests of tests: code beside its model."""
