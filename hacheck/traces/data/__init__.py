"""What logs show of the data that nodes hold, and what clients were answered, compared with each other."""
