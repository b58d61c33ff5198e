// Mistakes in sm_120's kernel, as changes of its source: each must be a wrong product. Those that would leave every thread waiting
// are native/test/blockScaleKernel.cpp's alone, which has all of them in order.
const gemm = 'common/blockScale/gemm.cuh'
const loaders = 'common/blockScale/loaders.cuh'
const release = `machine.syncWarp();
      // Behind sums that all it has loaded goes into.
      const float last[4] = {sums.d[0][0][0], sums.d[1][1][0], sums.d[2][2][0], sums.d[3][3][0]};
      if (machine.thread() % 32 == 0) machine.arriveBehind(ring.empty(), last);`
const early = `machine.syncWarp();
      if (machine.thread() % 32 == 0) machine.arrive(ring.empty());`
const multiply = 'multiplyStage<T>(machine, ring.codes(), warpRow, warpColumn, sums);'
const wait = 'machine.wait(ring.full(), ring.phase);'

/** nvfp4 and mxfp8 go by boxes, mixed by pieces. */
const byBoxes = ['nvfp4', 'mxfp8']

/** @type {Omit<import('./mistaken.mjs').KernelMistake, 'says'>[]} */
export const mistakes = [
  // Pieces were there in time on an H200 (mixed passed); the CPU's clocks see it however fast they come.
  { name: 'a stage is not waited for', changes: [[gemm, wait, '']], formats: byBoxes },
  {
    name: 'a stage is given back before it is read',
    changes: [
      [gemm, release, ''],
      [gemm, multiply, `${early}\n      ${multiply}`]
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
