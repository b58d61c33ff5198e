// Kernels that Triton's compiler made for sm_120 and sm_100 (test/fixtures/kernels), as kernels of a folder for any GPU from sm_90
// on: their PTX, in which instructions that such a GPU lacks are calls of the emulations. All other lines are theirs; NVRTC
// assembles them as inline assembly.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

const here = dirname(fileURLToPath(import.meta.url))
const fixtures = resolve(here, '../fixtures/kernels')
const sources = resolve(here, '../../resources/kernels/cuda')

/** @type {Record<string, string>} */
const formatOf = {
  '1X': 'mxfp8',
  '2X': 'mxfp4',
  '4X': 'nvfp4',
  mxf8: 'mxfp8',
  mxf4: 'mxfp4',
  nvf4: 'nvfp4',
  mixed: 'mixed'
}

/** @typedef {import('./thirdPartyKernels.mjs').Kernel} Kernel */

/** @type {Kernel[]} */
export const kernels = readdirSync(fixtures).flatMap((file) => {
  const name = /^((sm\d+)_(pair_)?(\w+)_(\d+)x(\d+)x(\d+))\.ptx\.gz$/.exec(file)
  if (!name) return []
  const [, id, target, pair, kind, m, n, k] = name
  const tile = { m: Number(m), n: Number(n), k: Number(k) }
  return [{ id: `triton-${id}`, file, target, ctas: pair ? 2 : 1, format: formatOf[kind], ...tile }]
})

// ------------------------------------------------------------------------------- lines of PTX

/** Of 32-bit registers as one parameter, which the compiler aligns to 16. */
const bytesOf = (registers) => Math.ceil(registers.length / 4) * 16

/** A call of an emulation, whose parameters are given one after the other. */
class Call {
  /** @type {string[]} */
  lines = []
  /** @type {string[]} */
  given = []

  /** @param {string} register  @param {number} bits */
  value(register, bits = 32) {
    const name = `given${this.given.length}`
    this.lines.push(`.param .b${bits} ${name};`, `st.param.b${bits} [${name}], ${register};`)
    this.given.push(name)
    return this
  }
  /** Several in one. @param {string[]} registers */
  words(registers) {
    const name = `given${this.given.length}`
    this.lines.push(`.param .align 16 .b8 ${name}[${bytesOf(registers)}];`)
    for (const [i, one] of registers.entries())
      this.lines.push(`st.param.b32 [${name}+${i * 4}], ${one};`)
    this.given.push(name)
    return this
  }
  /** What `instruction` makes, for which it has a question mark. @param {string} instruction */
  made(instruction) {
    const name = `made${this.given.length}`
    this.lines.push(`.reg .b32 ${name};`, instruction.replace('?', name))
    return this.value(name)
  }
  /** @param {string} text */
  address(text) {
    const [, base, offset = '0'] = /^\[\s*(%\w+)\s*(?:\+\s*(\d+))?\s*\]$/.exec(text) ?? []
    if (!base) throw new Error(`${text} is no address`)
    return this.made(`add.u32 ?, ${base}, ${offset};`)
  }
  /** @param {string} name  @param {string[]} results registers */
  to(name, results = []) {
    const { lines, given } = this
    if (results.length > 0) lines.push(`.param .align 16 .b8 back[${bytesOf(results)}];`)
    lines.push(`call ${results.length > 0 ? '(back), ' : ''}${name}, (${given.join(', ')});`)
    for (const [i, one] of results.entries()) lines.push(`ld.param.b32 ${one}, [back+${i * 4}];`)
    return ['{', ...lines, '}']
  }
}

/** Operands: registers, numbers, `{...}` as lists, `[...]` as they are. */
const operandsOf = (text) =>
  (text.match(/\{[^}]*\}|\[[^\]]*\]|[^\s,]+/g) ?? []).map((one) =>
    one.startsWith('{') ? (one.match(/[%\w]+/g) ?? []) : one
  )

const numberOfType = { e2m1: 0, e2m3: 1, e3m2: 2, e4m3: 3, e5m2: 4, ue8m0: 5, ue4m3: 6 }

/** Of a kernel's PTX: lines for a GPU from sm_90 on, and declarations that they rely on. @param {Kernel} kernel  @param {string} ptx */
export function rewritten({ file, target, ctas }, ptx) {
  const isTensor = target === 'sm100'
  const declarations = new Set()
  /** How many lines of each opcode are others now. @type {Record<string, number>} */
  const replaced = {}
  let labels = 0

  const machine = () => new Call().value('#MACHINE', 64)
  /** @param {string} opcode  @param {any[]} operands @returns {string[] | undefined} */
  const inPlaceOf = (opcode, operands) => {
    const parts = opcode.split('.')
    if (parts[0] === 'mma') {
      const [, vector, a, b, scale] =
        /block_scale\.scale_vec::(\d)X\.f32\.(\w+)\.(\w+)\.f32\.(\w+)$/.exec(opcode) ?? []
      const [d, ofA, ofB, c, scaleA, byteA, scaleB, byteB] = operands
      if ([...byteA, ...byteB].some((one) => one !== '0')) throw new Error(`${file}: a selector`)
      const form = [a, b, scale].map((name) => numberOfType[name]).concat(Number(vector))
      declarations.add(`MULTIPLY_ADD(${form.join(', ')})`)
      const call = new Call().words(c).words(ofA).words(ofB).value(scaleA).value(scaleB)
      return call.to(`multiplyAdd_${form.join('_')}`, d)
    }
    if (opcode === 'bar.sync' && isTensor) return ['bar.sync 1, #THREADS;']
    if (opcode.startsWith('barrier.cluster.arrive')) return []
    if (opcode.startsWith('barrier.cluster.wait')) return machine().to('meet')
    if (opcode.startsWith('mbarrier.try_wait')) {
      const [complete, barrier, parity] = operands
      return [
        ...machine().address(barrier).value(parity).to('waitForBarrier'),
        `setp.eq.u32 ${complete}, 0, 0;`
      ]
    }
    if (parts[0] !== 'tcgen05') return undefined
    const count = Number(/\.x(\d+)\./.exec(opcode)?.[1])
    const [first, second] = operands
    switch (parts[1]) {
      case 'alloc':
        return machine().address(first).made(`mov.b32 ?, ${second};`).to('allocate')
      case 'relinquish_alloc_permit':
        return machine().to('relinquish')
      case 'dealloc':
        return machine().value(first).made(`mov.b32 ?, ${second};`).to('release')
      case 'st':
        declarations.add(`STORE(${count})`)
        return machine().address(first).words(second).to(`store_${count}`)
      case 'ld':
        declarations.add(`LOAD(${count})`)
        return machine().address(second).to(`load_${count}`, first)
      case 'wait::ld':
        return machine().to('waitForLoads')
      case 'wait::st':
        return machine().to('waitForStores')
      case 'mma': {
        const [d, a, b, instruction, scalesA, scalesB, adds] = operands
        const vector = parts.at(-1) === 'block16' ? 4 : parts[3] === 'kind::mxf8f6f4' ? 1 : 2
        return machine()
          .made(`mov.b32 ?, ${vector};`)
          .address(d)
          .value(a, 64)
          .value(b, 64)
          .value(instruction)
          .address(scalesA)
          .address(scalesB)
          .made(`selp.u32 ?, 1, 0, ${adds};`)
          .to('issueMultiply')
      }
      case 'commit':
        return machine()
          .address(first)
          .made(ctas === 2 ? `cvt.u32.u16 ?, ${second};` : 'mov.b32 ?, 1;')
          .to('commit')
    }
    throw new Error(`${file}: ${opcode} has no emulation`)
  }

  const lines = []
  const body = ptx.slice(ptx.indexOf('{') + 1, ptx.lastIndexOf('}'))
  for (const whole of body.split('\n')) {
    const line = whole.trim().replaceAll('$L__', 'L__')
    const parameter = /^ld\.param\.b(\d+)\s+(%\w+), \[k_param_(\d+)\];$/.exec(line)
    const [, not, guard, opcode, rest] =
      /^(?:@(!?)(%?\w+)\s+)?([a-z][\w.:]*)\s*([^;]*);$/.exec(line) ?? []
    const instead = opcode && !parameter && inPlaceOf(opcode, operandsOf(rest))
    if (line === '') continue
    if (parameter) lines.push(`mov.b${parameter[1]} ${parameter[2]}, #${parameter[3]};`)
    // The wrapper goes on behind it.
    else if (line === 'ret;') lines.push('bra THE_END;')
    else if (instead) {
      replaced[opcode] = (replaced[opcode] ?? 0) + 1
      const label = `PAST_${labels++}`
      if (guard) lines.push(`@${not ? '' : '!'}${guard} bra ${label};`, ...instead, `${label}:`)
      else lines.push(...instead)
    } else lines.push(line.replaceAll('global_smem', '#SHARED'))
  }
  return { lines: [...lines, 'THE_END:'], declarations: [...declarations], replaced }
}

// ------------------------------------------------------------------------------- a folder

/** Parameters of a kernel of Triton's, in its order, then what its lines have besides. */
const pointers = ['aCodes', 'aScales', 'bCodes', 'bScales', 'c']
const numbers = ['K', 'rowA', 'rowB', 'scaleRowA', 'scaleRowB', 'rowC']
const inputs = [...pointers, ...numbers]

/** @param {Kernel} kernel */
function sourceOf(kernel) {
  const ptx = gunzipSync(readFileSync(join(fixtures, kernel.file))).toString()
  const threads = Number(/\.reqntid (\d+)/.exec(ptx)?.[1])
  const { lines, declarations } = rewritten(kernel, ptx)
  const isTensor = kernel.target === 'sm100'
  const assembled = lines.map((line) => {
    const text = line
      .replace('#SHARED', `#${inputs.length}`)
      .replace('#MACHINE', `#${inputs.length + 1}`)
      .replace('#THREADS', String(threads))
    // Registers of the compiler around it have the same names, and stand for the operands.
    const own = text.replace(/%(?=(?:p|r|rs|rd)[\d<])/g, '%triton_')
    return `      "${own.replaceAll('%', '%%').replaceAll('#', '%')}\\n"`
  })
  const given = [
    ...inputs.map((name) => `"${pointers.includes(name) ? 'l' : 'r'}"(${name})`),
    '"r"(dynamicSharedStart())',
    ...(isTensor ? ['"l"(&machine)'] : [])
  ]
  const parameters = [
    'const u8* aCodes, const u8* aScales, const u8* bCodes, const u8* bScales, float* c',
    ...numbers.map((name) => `int ${name}`),
    ...(isTensor ? ['u8* tensorMemory', 'u8* fault'] : [])
  ]
  const source = [
    `#define THREADS ${threads}`,
    `#include "thirdParty/${isTensor ? 'tensor' : 'warp'}.cuh"`,
    ...declarations,
    `extern "C" __global__ void __launch_bounds__(ALL_THREADS, 1) multiply(${parameters.join(', ')}) {`,
    '  BEGIN',
    '  asm volatile("{\\n"',
    ...assembled,
    `      "}" :: ${given.join(', ')} : "memory");`,
    '  END',
    '}',
    ''
  ]
  return { source: source.join('\n'), threads }
}

/** Threads that stand for the tensor core. */
const tensorThreads = 256

/** Its row of the manifest. @param {Kernel} kernel  @param {number} threads */
function rowOf({ id, target, ctas, format, m, n, k }, threads) {
  const isTensor = target === 'sm100'
  const grid = [`${ctas} * (M / ${m})`, `N / ${n}`]
  return {
    id,
    summary: `Triton's kernel for ${target.replace('sm', 'sm_')} with its instructions emulated`,
    file: `${id}.cu`,
    architectures: ['sm_90+'],
    formats: [{ format, level: 'emulated', reason: "another compiler's use of the instruction" }],
    outputs: ['f32'],
    constants: { CTAS: ctas, TENSOR_THREADS: tensorThreads, TENSOR_BYTES: 393216 },
    requires: [
      {
        that: `M % ${m} == 0 && N % ${n} == 0 && K % ${k} == 0`,
        message: `Tiles of ${m} x ${n} x ${k} must be whole`
      }
    ],
    workspace: isTensor
      ? [
          { name: 'tensorMemory', bytes: `${grid[0]} * (${grid[1]}) * TENSOR_BYTES` },
          { name: 'fault', bytes: '256', fault: true }
        ]
      : [],
    launches: [
      {
        function: 'multiply',
        grid,
        block: [String(isTensor ? threads + tensorThreads : threads)],
        ...(ctas > 1 ? { cluster: [String(ctas)] } : {}),
        // As much as all of them address.
        sharedBytes: '65536',
        arguments: [
          ...pointers,
          'K',
          'K * BITS_A / 8',
          'K * BITS_B / 8',
          'K / V',
          'K / V',
          'N',
          ...(isTensor ? ['tensorMemory', 'fault'] : [])
        ]
      },
      // Triton's know no scale of a tensor.
      {
        function: 'scale',
        grid: ['ceil_div(M * N, 256)'],
        block: ['256'],
        arguments: ['c', 'M * N', 'f32:tensorScale']
      }
    ]
  }
}

/** Writes the kernels to `folder`, with the sources that they include. @param {string} folder  @param {Kernel[]} some */
export function writeKernels(folder, some = kernels) {
  mkdirSync(folder, { recursive: true })
  for (const [from, name] of [
    [join(sources, 'common'), 'common'],
    [join(here, 'thirdParty'), 'thirdParty']
  ])
    cpSync(from, join(folder, name), { recursive: true })
  const rows = some.map((kernel) => {
    const { source, threads } = sourceOf(kernel)
    writeFileSync(join(folder, `${kernel.id}.cu`), source)
    return rowOf(kernel, threads)
  })
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ kernels: rows }))
}
