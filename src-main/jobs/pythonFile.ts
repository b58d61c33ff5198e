import type { Detection, Device, Kernel } from '@shared/contract/devices'
import { UserError } from '@shared/errors'
import { readNamed } from '../ground/named'
import type { FileBytes } from './arrays/sortFiles'
import { EngineError, type Engine } from '../engine/engine'
import type { EngineDetection } from '../engine/engineProtocol'

/** What was found with the kernels of these files; one that does not load is a warning. */
export async function offerFiles(
  engine: Engine,
  found: Detection,
  files: readonly string[]
): Promise<Detection> {
  let all = found
  for (const file of files) {
    try {
      all = { ...all, ...(await addPythonKernels(engine, file, all)) }
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      all = { ...all, warnings: [...all.warnings, error.message] }
    }
  }
  return all
}

/** A file of Python kernels as it comes from outside: chosen in a dialog, or handed over with its bytes. */
export type TakeProvider = (given?: FileBytes) => Promise<string | undefined>

/** What was found without the kernels of a file. */
export function withoutFile(found: Detection, file: string): Detection {
  const devices = found.devices.map((device) => {
    const kernels = device.kernels.filter(({ python }) => python?.file !== file)
    return { ...device, kernels }
  })
  return { ...found, devices, libraries: found.libraries.filter(({ path }) => path !== file) }
}

/** A device as a run records it: where files of Python kernels lie on this machine is no fact about it. */
export const withoutPythonFiles = (device: Device): Device => ({
  ...device,
  kernels: device.kernels.map(({ python: _, ...kernel }) => kernel)
})

/** The files that a person named among those of these kernels. */
export const filesOf = (kernels: readonly Kernel[]): string[] => [
  ...new Set(
    kernels.flatMap(({ provider, python }) => (provider === 'user' && python ? [python.file] : []))
  )
]

/** What was found with the kernels of a file of Python kernels, which is run for it. Throws a UserError that names the file. */
export async function addPythonKernels(
  engine: Engine,
  file: string,
  { devices, libraries }: Detection
): Promise<EngineDetection> {
  // Python would say it as an exception of its own.
  await readNamed(file, `--provider ${file}`)
  try {
    return await engine.call('addPythonKernels', { file, found: { devices, libraries } })
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    const kind = error.code === 'usage' || error.code === 'unavailable' ? error.code : 'failed'
    throw new UserError(kind, error.message, { cause: error })
  }
}
