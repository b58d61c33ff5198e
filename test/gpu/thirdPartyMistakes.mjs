// Mistakes in the emulations of block-scaled instructions, as changes of their source, under which kernels of another compiler
// must go wrong: a product, or a sentence of the model of tensor memory.

/** @typedef {import('./thirdPartyMistakes.mjs').EmulationMistake} EmulationMistake */

const form = 'common/blockScale/form.cuh'
const core = 'common/tcgen05/tensorCore.cuh'
const operands = 'common/tcgen05/operands.cuh'

const tilesOfProduct = `decodedTile(one.a), b = decodedTile(one.b);
    const int first`

/** Another thread id would be none: Triton has the scales in all lanes of a quad that may be asked. @type {EmulationMistake[]} */
const ofWarps = [
  {
    name: 'scale lanes of a pair swapped',
    changes: [[form, 'selector.thread * 2 + row / 8,', 'selector.thread * 2 + 1 - row / 8,']]
  },
  {
    name: "the neighbouring column's scales",
    changes: [[form, '{column * 4 + selector.thread,', '{(column ^ 1) * 4 + selector.thread,']]
  },
  {
    name: 'the next byte of scales of A',
    changes: [
      [form, 'row / 8, 0, (selector.byte + block)', 'row / 8, 0, (selector.byte + block + 1) % 4']
    ]
  },
  {
    name: "the neighbouring block's scales of A",
    changes: [
      [form, 'row / 8, 0, (selector.byte + block)', 'row / 8, 0, (selector.byte + (block ^ 1))']
    ],
    formats: ['mxfp4', 'nvfp4']
  },
  {
    name: "A's halves of K exchanged",
    changes: [[form, 'row / 8 + k / (run * 4) * 2,', 'row / 8 + (1 - k / (run * 4)) * 2,']]
  },
  {
    name: "A's codes of a lane as one run",
    changes: [
      [
        form,
        'row % 8 * 4 + k / run % 4, row / 8 + k / (run * 4) * 2,',
        'row % 8 * 4 + k / (run * 2), row / 8 + k / run % 2 * 2,'
      ]
    ]
  }
]

/** @type {EmulationMistake[]} */
const ofTensorMemory = [
  {
    name: 'scale lanes of a pair swapped',
    changes: [[core, 'cells[row % 32][at];', 'cells[row % 32 ^ 1][at];']]
  },
  {
    name: "the neighbouring column's scales",
    changes: [[core, 'scalesOf(cta, one.scalesB, j,', 'scalesOf(cta, one.scalesB, j ^ 1,']]
  },
  {
    name: 'scales of B where those of A are',
    changes: [[core, 'scalesOf(cta, one.scalesB, j,', 'scalesOf(cta, one.scalesA, j % 128,']]
  },
  {
    name: 'another scale id of A',
    changes: [[operands, '(int)(bits >> 29 & 3),', '(int)(bits >> 29 & 3) ^ vector,']],
    formats: ['mxfp8', 'mxfp4', 'mixed']
  },
  {
    name: 'a scale id amid scales that belong together',
    changes: [[operands, '(int)(bits >> 4 & 3),', '(int)(bits >> 4 & 3) | 1,']],
    formats: ['mxfp4', 'nvfp4'],
    says: /scale id \d where \d scales of 4 bytes belong together/
  },
  {
    name: "the neighbouring block's scales of A",
    changes: [[core, 'scalesA >> (8 * (idA + block))', 'scalesA >> (8 * (idA + (block ^ 1)))']],
    formats: ['mxfp4', 'nvfp4']
  },
  {
    name: 'the next 32 bytes of A',
    changes: [[core, tilesOfProduct, tilesOfProduct.replace('one.a', 'one.a ^ 2')]]
  },
  {
    name: 'every group of eight rows of B twice as far',
    changes: [
      [core, tilesOfProduct, tilesOfProduct.replace('one.b', 'one.b + (one.b & 0x3fffull << 32)')]
    ]
  },
  {
    name: 'A by the next narrower swizzle',
    changes: [[core, tilesOfProduct, tilesOfProduct.replace('one.a', 'one.a + (2ull << 61)')]]
  },
  {
    name: 'descriptors of an older GPU',
    changes: [[operands, '(int)(bits >> 46 & 3),', '(int)(bits >> 46 & 3) ^ 1,']],
    says: /the descriptor's version is 0, that of sm_100 is 1/
  },
  {
    name: "B's scales in columns that nobody allocated",
    changes: [[core, '(int)(one.scalesB & 0xffff), (is', '(int)(one.scalesB & 0xffff) + 256, (is']],
    says: /the scales of B: column \d+ of tensor memory.* is not allocated/
  },
  {
    name: 'rows of an instruction of one CTA',
    changes: [[operands, '(int)(bits >> 24 & 31) * 16,', '(int)(bits >> 24 & 31) * 8,']],
    ctas: 2,
    says: /tcgen05\.mma of 128 x \d+: cta_group::2 has 256/
  }
]

/** @param {import('./thirdPartyKernels.mjs').Kernel} kernel */
export const mistakesOf = ({ target, format, ctas }) =>
  (target === 'sm120' ? ofWarps : ofTensorMemory).filter(
    (mistake) => (mistake.formats?.includes(format) ?? true) && (mistake.ctas ?? ctas) === ctas
  )
