#!/bin/sh
# GPU tests on any CUDA machine: NODE=/path/to/node test/gpu/run.sh [size of the table, 0 for none] [result file]
# Its kernels under compute-sanitizer: test/gpu/run.sh sanitize (sanitize.mjs).
# What emulates instructions of later GPUs, on theirs and on Triton's kernels, and mistakes in either: test/gpu/run.sh emulated.
# Few rows of A, large ones many times: test/gpu/run.sh rows (fewRows.mjs).
# What plain reads of memory take: test/gpu/run.sh reads (reads.mjs).
# Needs nothing but Node, native/build/Release/blockscope.node and out/node (npm run build:node).
set -e
cd "$(dirname "$0")"
if [ "$1" = sanitize ]; then
  shift
  exec "${NODE:-node}" sanitize.mjs "$@"
fi
if [ "$1" = rows ]; then
  exec "${NODE:-node}" fewRows.mjs
fi
if [ "$1" = reads ]; then
  exec "${NODE:-node}" reads.mjs
fi
if [ "$1" = emulated ]; then
  failed=0
  for file in thirdParty blockScale tcgen05; do
    "${NODE:-node}" $file.mjs || failed=1
  done
  exit $failed
fi
exec "${NODE:-node}" gpu.mjs "$@"
