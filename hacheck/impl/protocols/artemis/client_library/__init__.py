"""The client library, applications that use it, and brokers over a shared store that it fails over between."""
