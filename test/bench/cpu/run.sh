#!/usr/bin/env bash
# Builds and runs the CPU benchmark: npm run bench:cpu [-- size rounds format ...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
native=$here/../../../native
make -s -C "$native/test" bench
# The peer gets its best kernels: whatever the environment says of OpenBLAS is dropped, and as
# OpenBLAS of Debian 12 does not know newer CPUs and falls back to AVX2 on them, AVX-512 is named.
# The benchmark prints what was chosen.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE OPENBLAS_NUM_THREADS OMP_NUM_THREADS
if grep -qw avx512bw /proc/cpuinfo 2>/dev/null; then
  export OPENBLAS_CORETYPE=SkylakeX
fi
exec "$native/test/build/plain/bench-cpu" "$@"
