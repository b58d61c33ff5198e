// Compiles the functions between BEGIN and END for an instruction set, whatever the compiler's
// flags: one binary holds them all, and CPUID chooses. Put after all #includes, so that no inline
// function of a header is compiled so.
#pragma once

#define BLOCKSCOPE_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define BLOCKSCOPE_TARGET_BEGIN(isa) \
  BLOCKSCOPE_PRAGMA(clang attribute push(__attribute__((target(isa))), apply_to = function))
#define BLOCKSCOPE_TARGET_END BLOCKSCOPE_PRAGMA(clang attribute pop)
#else
#define BLOCKSCOPE_TARGET_BEGIN(isa) \
  BLOCKSCOPE_PRAGMA(GCC push_options) BLOCKSCOPE_PRAGMA(GCC target(isa))
#define BLOCKSCOPE_TARGET_END BLOCKSCOPE_PRAGMA(GCC pop_options)
#endif
