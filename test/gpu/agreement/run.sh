#!/usr/bin/env bash
# Per-kernel times of blockscope next to ncu's and Proton's for the same kernels: NODE=... test/gpu/agreement/run.sh [size]
# Needs a GPU; ncu and a Python with Triton where they are to be compared. Prints 'N passed, N failed'.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
node=${NODE:-node}
size=${1:-8192}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for kernel in wgmma wgmma-fp8-p256 cublaslt-bf16; do
  "$node" "$here/launch.mjs" "$kernel" mxfp4 "$size" "$folder/cache" > "$folder/$kernel.json" || exit 1
  if command -v ncu > /dev/null; then
    # Clocks as they are, caches as they are: the launches above meet the same.
    NCU=1 ncu --target-processes all --clock-control none --cache-control none --metrics gpu__time_duration.sum \
      --print-units base --csv --launch-count 120 "$node" "$here/launch.mjs" "$kernel" mxfp4 "$size" "$folder/cache" \
      > "$folder/$kernel.csv" 2> "$folder/$kernel.err" || tail -3 "$folder/$kernel.err"
  fi
done
python3 "$here/proton_times.py" "$size" "$folder" > "$folder/proton.json" 2> "$folder/proton.err" \
  || tail -2 "$folder/proton.err"
python3 "$here/compare.py" "$folder"
