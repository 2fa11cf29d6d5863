"""The reference implementation as a product: replicas in memory, under no clock but the schedule's."""
