// Mistakes in the tcgen05 kernel, as changes of its source, and what its emulation says of each: a sentence, or, where the
// instruction cannot know what was meant, a wrong product. The same as native/test/tensorKernel.cpp has them, which runs on a CPU.
import { wrongProduct } from './mistaken.mjs'

const gemm = 'common/tcgen05/gemm.cuh'
const descriptors = 'common/tcgen05/descriptors.cuh'

const nobody = /a commit, an arrival or a copy is missing/

/** What waits here is too late on any GPU: a warp that reads its sums at once is in time on a fast one. */
const sleep = 'for (int i = 0; i < 50; i++) __nanosleep(1000 * 1000);\n'

/** Of a tile: rows and K such that each of two accumulators, or every stage, is used again. */
const threeTiles = { m: 556 }
const allStages = { k: 4096 }

/** Of a pair of CTAs. @type {import('./mistaken.mjs').KernelMistake[]} */
const ofPairs = [
  {
    name: 'the second CTA does not hear of a commit',
    changes: [
      [gemm, 'machine.commit(ring.empty(), T::kAllCtas);', 'machine.commit(ring.empty(), 1);']
    ],
    says: nobody,
    ...allStages
  },
  {
    name: 'the first CTA does not hear of a commit',
    changes: [
      [gemm, 'machine.commit(ring.empty(), T::kAllCtas);', 'machine.commit(ring.empty(), 2);']
    ],
    says: nobody
  },
  {
    name: 'a commit tells a CTA that is not there',
    changes: [
      [gemm, 'machine.commit(ring.empty(), T::kAllCtas);', 'machine.commit(ring.empty(), 7);']
    ],
    says: /CTA 2 is told of a cluster of 2/
  },
  {
    name: "the second's half of B is not brought",
    changes: [[gemm, 'machine.loadB(ring', 'if (rank == 0) machine.loadB(ring']],
    says: nobody
  },
  {
    name: "the second's half of B is of other columns",
    changes: [
      [gemm, 'rank * (at.columns(of) / T::kCtas);', 'rank * (at.columns(of) / T::kCtas + 8);']
    ],
    says: wrongProduct
  },
  {
    name: 'the first waits for what it brings itself',
    changes: [[gemm, 'T::kCtas * T::kArriving);', 'T::kArriving);']],
    says: /the tensor core reads|waits for \d+ bytes where copies bring|a commit, an arrival or a copy/
  },
  {
    name: "the second's copies are told to itself",
    changes: [
      [gemm, 'const u32 full = machine.ofFirst(ring.full());', 'const u32 full = ring.full();']
    ],
    says: nobody
  },
  {
    name: 'an instruction of 128 rows',
    changes: [
      [gemm, 'instructionDescriptor(T::form(), T::kTileM,', 'instructionDescriptor(T::form(), 128,']
    ],
    says: /tcgen05\.mma of 128 x \d+: cta_group::2 has 256 x 16 to 256/
  },
  {
    name: 'the second allocates no tensor memory',
    changes: [
      [gemm, 'machine.template allocate<', 'if (machine.rank() == 0) machine.template allocate<'],
      [gemm, 'machine.template free<', 'if (machine.rank() == 0) machine.template free<']
    ],
    says: /of tensor memory of CTA 1 is not allocated/
  },
  {
    name: 'the second does not free it',
    changes: [[gemm, 'machine.template free<', 'if (machine.rank() == 0) machine.template free<']],
    says: /512 columns of tensor memory of CTA 1 are not freed/
  }
]

/** @type {import('./mistaken.mjs').KernelMistake[]} */
export const mistakes = [
  {
    name: 'eight rows half as far from the next',
    changes: [[descriptors, '(u32)rowBytes(swizzle) * 8);', '(u32)rowBytes(swizzle) * 4);']],
    says: /operand A: a stride of 512 bytes, below the 1024 of eight rows/
  },
  {
    name: 'eight rows twice as far',
    changes: [[descriptors, '(u32)rowBytes(swizzle) * 8);', '(u32)rowBytes(swizzle) * 16);']],
    says: wrongProduct,
    kernels: ['tcgen05-emulated']
  },
  {
    name: 'descriptors of an older GPU',
    changes: [[descriptors, 'const u64 version = 1;', 'const u64 version = 0;']],
    says: /the descriptor's version is 0, that of sm_100 is 1/
  },
  {
    name: 'codes of A in another swizzle',
    changes: [
      [
        gemm,
        'sums, tileDescriptor(T::kSwizzle, codes, T::kRowsA)',
        'sums, tileDescriptor(Swizzle::k64, codes, T::kRowsA)'
      ]
    ],
    says: wrongProduct
  },
  {
    name: "another byte of A's scales",
    changes: [[gemm, 'n, ofA.id, ofB.id)', 'n, ofA.id ^ T::form().vector, ofB.id)']],
    says: wrongProduct,
    formats: ['mxfp8', 'mxfp4']
  },
  {
    name: "a byte of A's scales that four belong to",
    changes: [[gemm, 'n, ofA.id, ofB.id)', 'n, ofA.id ^ 1, ofB.id)']],
    says: /scale id 1 where 4 scales of 4 bytes belong together/,
    formats: ['nvfp4']
  },
  {
    name: "B's scales from the next 32 columns",
    changes: [[gemm, 'at.column % 128 / 32)', 'at.column % 128 / 32 + 1)']],
    says: wrongProduct
  },
  {
    name: "B's scales are not copied",
    changes: [[gemm, 'i < T::kScaledB / 128; i++)', 'i < 0; i++)']],
    says: /tcgen05\.mma reads column \d+ of tensor memory.*, which nobody wrote/
  },
  {
    name: 'the first product adds to what nobody wrote',
    changes: [[gemm, 'step > 0 || i > 0);', 'true);']],
    says: /tcgen05\.mma reads column \d+ of tensor memory.*, which nobody wrote/
  },
  {
    name: 'too few columns are allocated',
    changes: [
      [gemm, 'machine.template allocate<T::kColumns>', 'machine.template allocate<256>'],
      [gemm, 'machine.template free<T::kColumns>', 'machine.template free<256>']
    ],
    says: /column \d+ of tensor memory.* is not allocated/
  },
  {
    name: 'a number of columns that is no power of two',
    changes: [[gemm, 'machine.template allocate<T::kColumns>', 'machine.template allocate<480>']],
    says: /tcgen05\.alloc of 480 columns: 32 to 512, a power of two/
  },
  {
    name: 'no commit of the sums',
    changes: [[gemm, 'machine.commit(ring.sumsFull(at.accumulator()), T::kAllCtas);', '']],
    says: nobody
  },
  {
    name: 'no commit of a stage',
    changes: [[gemm, 'machine.commit(ring.empty(), T::kAllCtas);', '']],
    says: nobody
  },
  {
    name: 'products begin before their codes are there',
    changes: [[gemm, 'machine.wait(ring.full(), ring.phase);', '']],
    says: /the tensor core reads (what nobody wrote|under a copy that is not waited for)/
  },
  {
    name: 'sums are stored before they are there',
    changes: [[gemm, 'machine.wait(ring.sumsFull(at.accumulator()), at.phase());', '']],
    says: /tcgen05\.ld reads column \d+ of|is read under a tcgen05\.mma/
  },
  {
    name: 'a stage is filled while the one before is in use',
    changes: [[gemm, 'machine.wait(ring.empty(), ring.phase ^ 1);\n      if', 'if']],
    says: /two copies at once|a copy over what the tensor core still reads/,
    ...allStages
  },
  {
    name: 'sums are given up before they are read',
    changes: [
      [
        gemm,
        'machine.fenceAfterSync();\n    const int n = at.columns(of), row',
        'machine.arrive(machine.ofFirst(ring.sumsEmpty(at.accumulator())));\n' +
          sleep +
          'machine.fenceAfterSync();\n    const int n = at.columns(of), row'
      ],
      [
        gemm,
        'machine.fenceBeforeSync();\n        machine.arrive(machine.ofFirst(ring.sumsEmpty(at.accumulator())));',
        'machine.fenceBeforeSync();'
      ]
    ],
    // How late the reader is decides whether it meets sums that are being made or the next tile's.
    says: /tensor memory column 0 is |a wrong product/,
    ...threeTiles
  },
  {
    name: 'registers are read before they are waited for',
    changes: [[gemm, 'machine.waitForLoads(sums);', '']],
    says: /is written while a warp reads it: tcgen05\.wait::ld is missing/,
    ...threeTiles
  },
  {
    name: 'no fence behind the wait for a stage',
    changes: [
      [
        gemm,
        'machine.wait(ring.full(), ring.phase);\n      machine.fenceAfterSync();',
        'machine.wait(ring.full(), ring.phase);'
      ]
    ],
    says: /tcgen05\.cp without a tcgen05\.fence::after_thread_sync behind the wait/
  },
  {
    name: 'no fence behind the wait for sums',
    changes: [
      [
        gemm,
        'machine.fenceAfterSync();\n    const int n = at.columns(of), row',
        'const int n = at.columns(of), row'
      ]
    ],
    says: /tcgen05\.ld without a tcgen05\.fence::after_thread_sync behind the wait/
  },
  {
    name: 'no fence before sums are given up',
    changes: [[gemm, 'machine.fenceBeforeSync();\n        machine.arrive', 'machine.arrive']],
    says: /no tcgen05\.fence::before_thread_sync between a load and an mbarrier/
  },
  {
    name: 'tensor memory is kept',
    changes: [
      [gemm, 'if (warp == T::kStoringWarps + 1) machine.template free<T::kColumns>(tensor);', '']
    ],
    says: /512 columns of tensor memory.* are not freed: tcgen05\.dealloc is missing/
  },
  {
    name: 'a warp reads the lanes of the next one',
    changes: [[gemm, 'tensorAddress(warp * 32,', 'tensorAddress((warp + 1) % 4 * 32,']],
    says: /warp \d reaches lanes from \d+ on, not from \d+/
  },
  ...ofPairs.map((one) => ({ ...one, kernels: ['tcgen05-pair-emulated'] }))
]
