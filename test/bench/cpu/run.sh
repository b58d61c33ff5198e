#!/usr/bin/env bash
# Builds and runs the CPU benchmark: npm run bench:cpu [-- size rounds]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
native=$here/../../../native
build=$here/../output
mkdir -p "$build"
"${CXX:-c++}" -std=c++20 -O3 -Wno-maybe-uninitialized -o "$build/bench-cpu" \
  "$here/bench.cpp" "$native"/core/*.cpp "$native"/cpu/*.cpp -ldl -lpthread
# OpenBLAS of Debian 12 does not know newer CPUs and would fall back to its AVX2 kernels: the peer gets its best ones.
if [ -z "${OPENBLAS_CORETYPE:-}" ] && grep -qw avx512bw /proc/cpuinfo 2>/dev/null; then
  export OPENBLAS_CORETYPE=SkylakeX
fi
exec "$build/bench-cpu" "$@"
