"""`hacheck explore`: the page of a report with the interpreter behind it, served to this machine alone."""
