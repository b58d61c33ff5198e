#!/usr/bin/env bash
# Compiles every kernel of a manifest with nvcc for every architecture it claims, in every format (float16 output) and every
# output type (first format). Usage: scripts/kernels-check.sh [kernel folder]
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-resources/kernels/cuda}
nvcc=${NVCC:-$(command -v nvcc || true)}
if [ -z "$nvcc" ]; then
  echo "nvcc was not found: install the CUDA toolkit (13.0 or later) or set NVCC to its path; no kernel was checked." >&2
  exit 3
fi
export nvcc folder
logs=$(mktemp -d)
export logs
trap 'rm -rf "$logs"' EXIT

# One line per compilation: a name, the source, the target, the macros.
list() {
  node - "$folder/manifest.json" <<'JS'
const { kernels } = JSON.parse(require('fs').readFileSync(process.argv[2], 'utf8'))
const formats = {
  nvfp4: [0, 0, 6, 16], mxfp4: [0, 0, 5, 32], mxfp4_b16: [0, 0, 5, 16], mxfp8: [3, 3, 5, 32], mxfp8_e5m2: [4, 4, 5, 32],
  mxfp8_e4m3_e5m2: [3, 4, 5, 32], mixed: [3, 0, 5, 32], mxfp6_e2m3: [1, 1, 5, 32], mxfp6_e3m2: [2, 2, 5, 32]
}
const outputs = { f16: 0, bf16: 1, f32: 2 }
// "sm_80+" is compiled for one target of every later family that runs block-scaled formats.
const later = ['sm_80', 'sm_86', 'sm_89', 'sm_90', 'sm_100', 'sm_103', 'sm_120', 'sm_121']
const targets = (claim) => {
  if (!claim.endsWith('+')) return [claim]
  const from = Number(claim.slice(3, -1))
  return later.filter((target) => Number(target.slice(3)) >= from)
}
for (const row of kernels) {
  const names = (row.formats ?? []).filter((f) => f.level !== 'unavailable').map((f) => f.format)
  const types = row.outputs ?? Object.keys(outputs)
  const builds = names.flatMap((format, i) => (i ? types.slice(0, 1) : types).map((type) => [format, type]))
  for (const [format, type] of builds.length ? builds : [['mxfp4', 'f16']])
    for (const target of row.architectures.flatMap(targets)) {
      const [a, b, scale, block] = formats[format]
      const macros = { A_FORMAT: a, B_FORMAT: b, SCALE_FORMAT: scale, SCALE_BLOCK: block, OUTPUT_TYPE: outputs[type], ...row.constants }
      const options = [...Object.entries(macros).map(([name, value]) => `-D${name}=${value}`), ...(row.options ?? [])]
      console.log([`${row.id}.${target}.${format}.${type}`, row.file, target, ...options].join(' '))
    }
}
JS
}

# Spills are errors: the kernels are sized to fit the register file.
compileOne() {
  set -- $1
  local name=$1 file=$2 target=$3
  shift 3
  if ! "$nvcc" -std=c++17 -cubin -gencode="arch=compute_${target#sm_},code=$target" -I"$folder" -Xptxas -v,-warn-spills \
      "$@" -o "$logs/$name.cubin" "$folder/$file" >"$logs/$name.log" 2>&1; then
    echo "$name does not compile:"
    cat "$logs/$name.log"
    touch "$logs/failed.$name"
  elif grep -Eq '[1-9][0-9]* bytes spill|C7508|C7510' "$logs/$name.log"; then
    echo "$name spills registers, loses setmaxnreg or serialises wgmma:"
    grep -E 'spill|C7508|C7510' "$logs/$name.log"
    touch "$logs/failed.$name"
  fi
  rm -f "$logs/$name.cubin"
}
export -f compileOne

list >"$logs/list"
total=$(wc -l <"$logs/list")
[ "$total" -gt 0 ] || { echo "$folder/manifest.json names no kernel." >&2; exit 2; }
tr '\n' '\0' <"$logs/list" | xargs -0 -P "${JOBS:-$(nproc)}" -I{} bash -c 'compileOne "$1"' _ {}
failed=$(find "$logs" -name 'failed.*' | wc -l)
echo "$((total - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
