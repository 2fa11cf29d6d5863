"""The native engine: machine code made by LLVM from the lowered form, an exact set of states seen, many threads."""
