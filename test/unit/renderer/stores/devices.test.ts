/** Files of Python kernels beside the kernels that are here anyway. */
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Detection } from '@shared/contract/devices'
import { RpcError } from '@shared/contract/methods'
import { arePythonFiles } from '../../../../src-renderer/ground/droppedFiles'
import { useConnection } from '../../../../src-renderer/stores/connection'
import { useDevices } from '../../../../src-renderer/stores/devices'
import { FakeMain } from '../support/fakeMain'
import { detection, makeKernel } from '../support/samples'

const path = '/kernels/mine.py'
const own = ['mine-a', 'mine-b'].map((id) => ({
  ...makeKernel(id, () => 'exact', { provider: 'user' }),
  python: { file: path, codes: 'packed' as const }
}))
const withOwn: Detection = {
  ...detection,
  devices: detection.devices.map((device, i) =>
    i === 0 ? { ...device, kernels: [...device.kernels, ...own] } : device
  )
}

describe('a file of Python kernels', () => {
  let main: FakeMain
  let devices: ReturnType<typeof useDevices>
  beforeEach(async () => {
    setActivePinia(createPinia())
    main = new FakeMain()
    await useConnection().start(main.connect)
    devices = useDevices()
    await devices.load()
  })

  it('that is dropped is handed over with its name, and its kernels are there', async () => {
    main.overrides['providers.add'] = async () => ({ file: path, detection: withOwn })
    const added = await devices.addPythonFile(new File(['import numpy'], 'mine.py'))
    expect(added).toEqual({ path, kernels: ['mine-a', 'mine-b'] })
    expect(devices.pythonFiles).toEqual([added])
    expect(main.calls.at(-1)).toEqual({
      method: 'providers.add',
      input: { file: { name: 'mine.py', bytes: new TextEncoder().encode('import numpy') } }
    })
  })

  it('that its person does not allow, or that is wrong, changes nothing', async () => {
    main.overrides['providers.add'] = async () => ({})
    expect(await devices.addPythonFile()).toBeUndefined()
    expect(main.calls.at(-1)).toEqual({ method: 'providers.add', input: {} })
    main.overrides['providers.add'] = async () => {
      throw new RpcError('failed', 'mine.py has no class with detect, prepare and run.')
    }
    await expect(devices.addPythonFile()).rejects.toThrow('has no class')
    expect(devices.pythonFiles).toEqual([])
  })

  it('is told by its name', () => {
    const named = (...names: string[]) => names.map((name) => new File([], name))
    expect(arePythonFiles(named('a.py', 'B.PY'))).toBe(true)
    expect(arePythonFiles(named('a.py', 'a.npy'))).toBe(false)
    expect(arePythonFiles([])).toBe(false)
  })
})
