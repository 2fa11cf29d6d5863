"""HornetQ as products. It is the ancestor of Artemis, so its plug-ins are those of Artemis with what differs."""
