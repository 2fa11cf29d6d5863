"""`eventually` and `leads_to`, on the finished graph of a search."""
