/** Operands in the files that people keep them in: .npz, a folder of .npy files, and what torch.save writes. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { findElementPacking, packElements } from '@shared/layouts/elementPacking'
import { readOperands } from '@shared/operands/readOperands'
import { arrayFileOf, arrayFileOnDisk } from '../../../../src-main/jobs/arrays/arrayFiles'
import { python, pythonHas } from '../../../support/python'
import { npyBytes, npzBytes, type Npy } from '../../../support/writeNpy'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-arrays-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
afterEach(() => vi.unstubAllEnvs())

const golden = await arrayFileOnDisk(
  'test/fixtures/golden/gemm_mxfp4_128x128x128.safetensors',
  '--operands'
)
const plain = readOperands(golden).operands
const packed = (name: string): Npy => {
  const { bytes, shape } = golden.arrays.find((array) => array.name === name)!
  const codes = packElements(findElementPacking('fp4_low_first'), bytes)
  return { descr: '|u1', shape: [shape[0]!, shape[1]! / 2], bytes: codes }
}
const scales = (name: string): Npy => {
  const { bytes, shape } = golden.arrays.find((array) => array.name === name)!
  return { descr: '|u1', shape, bytes }
}
const arrays: Record<string, Npy> = {
  a: packed('a_codes'),
  b: packed('b_codes'),
  a_scale: scales('a_scales'),
  b_scale: scales('b_scales')
}

async function expectPlain(path: string): Promise<void> {
  const { format, operands } = readOperands(await arrayFileOnDisk(path, '--operands'))
  expect(format.id).toBe('mxfp4')
  for (const name of ['aCodes', 'bCodes', 'aScales', 'bScales'] as const)
    expect(Buffer.compare(operands[name], plain[name]), name).toBe(0)
}

it('a .npz reads as the .safetensors does', async () => {
  const path = join(folder, 'operands.npz')
  writeFileSync(path, npzBytes(arrays))
  await expectPlain(path)
})

it('so does a folder of .npy files, each named as its array', async () => {
  const path = join(folder, 'operands')
  mkdirSync(path)
  for (const [name, array] of Object.entries(arrays))
    writeFileSync(join(path, `${name}.npy`), npyBytes(array))
  await expectPlain(path)
})

it('what cannot be read is said with the flag that named it', async () => {
  const empty = join(folder, 'empty')
  mkdirSync(empty)
  for (const [path, words] of [
    [join(folder, 'none.npz'), /^--operands \S+none\.npz does not exist\.$/],
    [empty, /is a folder without \.npy files\.$/]
  ] as const)
    await expect(arrayFileOnDisk(path, '--operands')).rejects.toThrow(words)
})

/** As much of torch as the reader asks for, with the tensors of the test: JSON of name, dtype, shape and bytes in base64. */
const standIn = `
import base64, ctypes, json
class Tensor:
    def __init__(self, dtype, shape, data):
        self.dtype, self.shape = "torch." + dtype, shape
        self.data = base64.b64decode(data)
        self.buffer = ctypes.create_string_buffer(self.data, len(self.data))
    def detach(self): return self
    def is_contiguous(self): return True
    def numel(self): return len(self.data)
    def element_size(self): return 1
    def data_ptr(self): return ctypes.addressof(self.buffer)
def load(path, map_location, weights_only):
    assert map_location == "cpu" and weights_only is True
    held = json.load(open(path))
    if "refused" in held: raise RuntimeError(held["refused"] + "\\nand more")
    return {name: Tensor(*one) if isinstance(one, list) else one for name, one in held.items()}
`
const torchFolder = (name: string, text: string) => {
  mkdirSync(join(folder, name, 'torch'), { recursive: true })
  writeFileSync(join(folder, name, 'torch', '__init__.py'), text)
  return join(folder, name)
}
const hasPython = pythonHas('sys')
const hasTorch = pythonHas('torch')

describe.skipIf(!hasPython)('a file of torch.save', () => {
  const saved = (name: string, held: object) => {
    const path = join(folder, name)
    writeFileSync(path, JSON.stringify(held))
    return path
  }
  const tensor = ({ shape, bytes }: Npy, dtype = 'uint8') => [
    ...[dtype, shape],
    Buffer.from(bytes).toString('base64')
  ]

  it('is asked of torch, tensors alone, with the dtypes that torch has', async () => {
    vi.stubEnv('PYTHONPATH', torchFolder('stand-in', standIn))
    const path = saved('operands.pt', {
      a: tensor(arrays.a!, 'float4_e2m1fn_x2'),
      b: tensor(arrays.b!, 'float4_e2m1fn_x2'),
      a_scale: tensor(arrays.a_scale!, 'float8_e8m0fnu'),
      b_scale: tensor(arrays.b_scale!, 'float8_e8m0fnu'),
      step: 7
    })
    await expectPlain(path)
    const { arrays: read, metadata } = await arrayFileOf('dropped.pt', readFileSync(path))
    expect(read.map(({ name, dtype, shape }) => [name, dtype, ...shape])).toEqual([
      ['a', 'F4', 128, 128],
      ['b', 'F4', 128, 128],
      ['a_scale', 'F8_E8M0', 128, 4],
      ['b_scale', 'F8_E8M0', 128, 4]
    ])
    expect(metadata).toEqual({ step: '7' })
  })

  it('that torch refuses, or with a dtype that is not taken, is told in a sentence', async () => {
    vi.stubEnv('PYTHONPATH', torchFolder('stand-in', standIn))
    const refused = saved('refused.pt', { refused: 'Weights only load failed' })
    await expect(arrayFileOnDisk(refused, '--operands')).rejects.toThrow(
      /refused\.pt cannot be read by torch: Weights only load failed\.$/
    )
    const complex = saved('complex.pt', { a: tensor(arrays.a!, 'complex64') })
    await expect(arrayFileOnDisk(complex, '--operands')).rejects.toThrow(
      /its tensor "a" is complex64, which is not taken\.$/
    )
  })

  it('without torch says so, and what to do', async () => {
    const none = 'raise ImportError("No module named \'torch\'")'
    vi.stubEnv('PYTHONPATH', torchFolder('none', none))
    const path = saved('lonely.pt', {})
    await expect(arrayFileOnDisk(path, '--operands')).rejects.toThrow(
      /lonely\.pt is a file of torch\.save, .* cannot: No module named 'torch'\. Name a Python that has it in BLOCKSCOPE_PYTHON/
    )
    vi.stubEnv('BLOCKSCOPE_PYTHON', join(folder, 'no-python'))
    await expect(arrayFileOnDisk(path, '--operands')).rejects.toThrow(/it cannot be started/)
  })

  it.skipIf(!hasTorch)('made by torch reads as the .safetensors does', async () => {
    writeFileSync(
      join(folder, 'arrays.json'),
      JSON.stringify(
        Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, tensor(array)]))
      )
    )
    const path = join(folder, 'real.pt')
    execFileSync(python, [
      '-c',
      `
import base64, json, sys, torch
held = json.load(open(sys.argv[1]))
torch.save({name: torch.frombuffer(bytearray(base64.b64decode(data)), dtype=getattr(torch, dtype)).reshape(shape)
            for name, (dtype, shape, data) in held.items()}, sys.argv[2])
`,
      join(folder, 'arrays.json'),
      path
    ])
    await expectPlain(path)
  })
})
