#!/bin/sh
# Captures of programs whose launches are counted ahead, on any CUDA machine: NODE=/path/to/node test/gpu/capture/run.sh
# Needs Node, native/build/Release/blockscope_inject.node, out/node (npm run build:node), and native/test/build/inject/program
# (make -C native/test/inject). PYTHON=/path/to/python with PyTorch and Triton: a program of those too, which profiles itself.
# --stub runs the same on stand-ins of driver and CUPTI. Prints 'N passed, N failed'.
set -e
cd "$(dirname "$0")/../../.."
exec "${NODE:-node}" test/gpu/capture/run.mjs "$@"
