/** What Python kernels make of PyTorch for ROCm, which calls an AMD GPU cuda: a real Python, and a package of torch's name that answers as it does. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { python, pythonHas } from '../../support/python'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-rocm-'))
beforeAll(() => {
  mkdirSync(join(folder, 'torch'))
  writeFileSync(
    join(folder, 'torch', '__init__.py'),
    `import os
from types import SimpleNamespace as Of
hip = os.environ.get("HIP_VERSION")
version = Of(hip=hip)
about = Of(L2_cache_size=4 << 20, gcnArchName=os.environ.get("ARCH", ""), uuid=os.environ["UUID"])
cuda = Of(is_available=lambda: True, get_device_properties=lambda i: about, mem_get_info=lambda: (1 << 30, 1 << 30))
float8_e4m3fn = float8_e5m2 = float16 = bfloat16 = float32 = None
`
  )
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function seen(environment: Record<string, string>) {
  const script = `import json
from blockscope_host.devices import CudaDevice
device = CudaDevice({})
print(json.dumps([CudaDevice.uuid(), device.clock, device.cache_bytes >> 20]))`
  const paths = [folder, resolve('resources/providers')].join(':')
  const env = { ...process.env, PYTHONPATH: paths, PYTHONDONTWRITEBYTECODE: '1', ...environment }
  return JSON.parse(execFileSync(python, ['-c', script], { encoding: 'utf8', env })) as unknown
}

describe.skipIf(!pythonHas('json'))('PyTorch', () => {
  it("for ROCm: HIP's uuid, events and the last cache", () => {
    const amd = { HIP_VERSION: '7.1', ARCH: 'gfx950:sramecc+:xnack-' }
    const uuid = '30313233-3435-3637-3839-616263646566'
    expect(seen({ ...amd, UUID: uuid })).toEqual(['GPU-0123456789abcdef', 'HIP events', 256])
    // What is no text of digits stays as it is.
    expect(seen({ ...amd, ARCH: 'gfx90a', UUID: 'ff'.repeat(16) })).toEqual([
      `GPU-${'ff'.repeat(16)}`,
      'HIP events',
      4
    ])
  })

  it("for CUDA: the driver's", () => {
    const uuid = '10101010-1010-1010-1010-101010101010'
    expect(seen({ UUID: uuid })).toEqual([`GPU-${uuid}`, 'CUDA events', 4])
  })
})

describe.skipIf(!pythonHas('json'))('tl.dot_scaled', () => {
  const script = `import json, sys
from types import SimpleNamespace as Of
sys.path.insert(0, ${JSON.stringify(resolve('resources/providers/triton'))})
from dotScaled import FORMATS, gpu_name, has_instruction, lacks_format, packs_along_n
targets = [Of(backend="cuda", arch=90), Of(backend="cuda", arch=100), Of(backend="cuda", arch=120), Of(backend="hip", arch="gfx950"), Of(backend="hip", arch="gfx942")]
names = [gpu_name(one) for one in targets]
able = lambda asked: {gpu: [name for name in FORMATS if asked(name, gpu)] for gpu in names}
print(json.dumps([able(one) for one in (has_instruction, lacks_format, packs_along_n)]))`
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  const said = () =>
    JSON.parse(execFileSync(python, ['-c', script], { encoding: 'utf8', env })) as object[]
  const eights = ['mxfp8', 'mxfp8_e5m2', 'mxfp8_e4m3_e5m2']
  const per32 = ['mxfp4', ...eights, 'mixed']

  it('becomes a block-scaled instruction where there is one', () => {
    const [native] = said()
    expect(native).toEqual({
      sm_90: [],
      sm_100: ['nvfp4', ...per32],
      sm_120: ['nvfp4', ...per32.filter((name) => name !== 'mixed')],
      gfx950: per32,
      gfx942: []
    })
  })

  it('has no path for e4m3 scales on some, and takes e2m1 along N on few', () => {
    const [, lacking, alongN] = said()
    const none = { sm_100: [], sm_120: [], gfx942: [] }
    expect(lacking).toEqual({ ...none, sm_90: ['nvfp4'], gfx950: ['nvfp4'] })
    const few = { sm_90: eights, sm_120: eights, gfx942: eights }
    expect(alongN).toEqual({ ...few, sm_100: per32, gfx950: per32 })
  })
})
