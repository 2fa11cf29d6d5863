"""hacheck for assistants: verify, show, explain, simulate and conform as tools of the Model Context Protocol."""
