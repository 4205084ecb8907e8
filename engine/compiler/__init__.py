"""How the engine is compiled: kernels, structs, the linker and the cache of machine code."""
