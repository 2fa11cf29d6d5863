"""The page that shows verdicts, runs and logs: one HTML file, with its script and style in `assets`."""
