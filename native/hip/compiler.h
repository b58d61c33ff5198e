// Kernel sources to code objects: hipRTC for the GPU at hand, with a cache on disk.
#pragma once

#include "../cuda/compiler.h"

namespace blockscope::hip {

using cuda::CompileCache;
using cuda::Compiled;        // an ELF code object
using cuda::CompileRequest;  // its target: "gfx950"

// Throws Error(kCompile) with the compiler's log, Error(kUnavailable) without hipRTC.
Compiled compile(const CompileRequest&, const CompileCache&);

}  // namespace blockscope::hip
