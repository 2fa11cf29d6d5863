"""The lowered form of a system as LLVM IR, and what the generated functions are about."""
