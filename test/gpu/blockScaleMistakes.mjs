// Mistakes in sm_120's kernel, as changes of its source, with its instruction emulated: each must be a wrong product. Those that
// would leave every thread waiting are native/test/blockScaleKernel.cpp's alone, which has all of them in order.
//   node blockScaleMistakes.mjs
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Checks, cudaDevice } from './addon.mjs'
import { checkMistake, wrongProduct } from './mistaken.mjs'

const gemm = 'common/blockScale/gemm.cuh'
const loaders = 'common/blockScale/loaders.cuh'
const release = `machine.syncWarp();
      if (machine.thread() % 32 == 0) machine.arrive(ring.empty());`
const multiply = 'multiplyStage<T>(machine, ring.codes(), warpRow, warpColumn, sums);'
const wait = 'machine.wait(ring.full(), ring.phase);'

/** nvfp4 and mxfp8 go by boxes, mixed by pieces. */
const byBoxes = ['nvfp4', 'mxfp8']

/** @type {Omit<import('./mistaken.mjs').KernelMistake, 'says'>[]} */
const mistakes = [
  // Pieces were there in time on an H200 (mixed passed); the CPU's clocks see it however fast they come.
  { name: 'a stage is not waited for', changes: [[gemm, wait, '']], formats: byBoxes },
  {
    name: 'a stage is given back before it is read',
    changes: [
      [gemm, release, ''],
      [gemm, multiply, `${release}\n      ${multiply}`]
    ]
  },
  {
    name: "other rows' codes",
    changes: [[loaders, 'T::kTileK, at.row, ring.full()', 'T::kTileK, at.row + 8, ring.full()']],
    formats: byBoxes
  },
  {
    name: "the next group's scales",
    changes: [
      [
        loaders,
        'loadScalesB<T>(scales + T::kBytesScales, at.step * T::kScaleGroups,',
        'loadScalesB<T>(scales + T::kBytesScales, (at.step + 1) * T::kScaleGroups,'
      ]
    ],
    formats: byBoxes
  },
  {
    // The other 16 of its 32 would be no mistake: both operands have them exchanged, under one scale.
    name: 'pieces in the neighbouring 32 bytes',
    changes: [[loaders, 'T::swizzled(row, chunk)', 'T::swizzled(row, chunk ^ 2)']],
    formats: ['mixed']
  },
  {
    name: 'scale lanes swapped',
    changes: [[gemm, 'lane % 2 * 8 + lane / 4', '(1 - lane % 2) * 8 + lane / 4']]
  },
  {
    name: "the neighbouring column's scales",
    changes: [[gemm, '(j * 8 + lane / 4) * 16', '(j * 8 + (lane / 4 ^ 1)) * 16']]
  },
  {
    name: 'another scale byte',
    changes: [
      [gemm, 'const int shift = step % kPerGroup * T::form().vector * 8;', 'const int shift = 0;']
    ],
    formats: ['mxfp4', 'mxfp8', 'mixed']
  },
  {
    name: 'the halves of an instruction exchanged',
    changes: [[gemm, 'step * 2 + lane / 16)', 'step * 2 + 1 - lane / 16)']]
  }
]

const file = fileURLToPath(import.meta.url)
const checks = new Checks()
const which = process.argv[2]
await cudaDevice([])
if (which === undefined) {
  await checks.inProcesses(
    file,
    mistakes.map((_, index) => [String(index)])
  )
} else {
  const cache = mkdtempSync(join(tmpdir(), 'blockscope-mistakes-'))
  await checkMistake(
    checks,
    { ...mistakes[Number(which)], says: wrongProduct, n: 136 },
    {
      kernels: ['mma-block-scale-emulated'],
      formats: ['nvfp4', 'mxfp8', 'mixed'],
      cache,
      limit: (row) => {
        for (const launch of row.launches) launch.grid = ['1']
      }
    }
  )
  rmSync(cache, { recursive: true, force: true })
}
checks.end()
