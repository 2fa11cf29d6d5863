"""Apache ActiveMQ Artemis as products: what its plug-ins share."""
