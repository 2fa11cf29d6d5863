"""A page about a protocol, in Markdown, made from its spec and from verifying it."""
