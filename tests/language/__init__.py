"""The language is as documented: its reference and the cases beside it are run."""
