#!/bin/sh
# GPU tests on any CUDA machine: NODE=/path/to/node test/gpu/run.sh [size of the table, 0 for none] [result file]
# Needs nothing but Node, native/build/Release/blockscope.node and out/node (npm run build:node).
set -e
cd "$(dirname "$0")"
exec "${NODE:-node}" gpu.mjs "$@"
