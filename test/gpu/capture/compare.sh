#!/bin/sh
# Kernel times by name against torch.profiler's and Proton's for the same program (within 1 % or one tick of the GPU's timer, 32 ns), and what a capture adds to a
# launch and to a step of 100 us kernels (under 2 %): PYTHON=/path/to/python test/gpu/capture/compare.sh, on a CUDA machine with
# PyTorch and Triton. Needs Node, native/build/Release/blockscope_inject.node and out/node. ROUNDS=5 of each.
set -e
cd "$(dirname "$0")/../../.."
exec "${NODE:-node}" test/gpu/capture/compare.mjs "$@"
