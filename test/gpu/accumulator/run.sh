#!/usr/bin/env bash
# Builds and runs the accumulator experiment; needs nvcc and a GPU of capability 9.0.
set -euo pipefail
cd "$(dirname "$0")/../../.."
binary=$(mktemp)
trap 'rm -f "$binary"' EXIT
nvcc -std=c++17 -gencode=arch=compute_90a,code=sm_90a -DOUTPUT_TYPE=2 -DACCUMULATE=0 -I resources/kernels/cuda -o "$binary" \
  test/gpu/accumulator/accumulator.cu
timeout 60 "$binary"
