"""From a model to machine code: lowering to scalar slots and blocks, LLVM IR, compiled objects kept and loaded."""
