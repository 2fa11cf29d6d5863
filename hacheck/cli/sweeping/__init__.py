"""`hacheck sweep`: its tasks, here or on Spark, the folder that keeps what they find, and its tables and pictures."""
