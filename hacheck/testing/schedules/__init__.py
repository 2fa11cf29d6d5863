"""Every schedule of code that neither waits nor reads clocks: real nodes under all interleavings of a small setting."""
