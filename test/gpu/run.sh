#!/bin/sh
# GPU tests on any CUDA machine: NODE=/path/to/node test/gpu/run.sh [size of the table, 0 for none] [result file]
# Its kernels under compute-sanitizer: test/gpu/run.sh sanitize (sanitize.mjs).
# Needs nothing but Node, native/build/Release/blockscope.node and out/node (npm run build:node).
set -e
cd "$(dirname "$0")"
if [ "$1" = sanitize ]; then
  shift
  exec "${NODE:-node}" sanitize.mjs "$@"
fi
exec "${NODE:-node}" gpu.mjs "$@"
