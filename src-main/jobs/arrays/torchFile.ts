/** Files of torch.save, read by a Python that has torch: their pickles are a program of their own. */
import { spawn } from 'node:child_process'
import * as v from 'valibot'
import { UserError } from '@shared/errors'
import { isNpz, zipNames } from '@shared/formats/npy'
import { pythonCommand } from '../../ground/python'
import script from './readTorch.py?raw'

/** What readTorch.py says when it does not work. */
const failureSchema = v.object({ kind: v.picklist(['no-torch', 'file']), message: v.string() })

/** torch alone takes seconds to import. */
const patienceMs = 120_000

/** By its ending, or by the pickle in its archive. */
export const isTorchFile = (bytes: Uint8Array, path: string): boolean =>
  /\.(pt|pth)$/i.test(path) ||
  (isNpz(bytes) && zipNames(bytes).some((name) => /(^|\/)data\.pkl$/.test(name)))

/**
 * Its tensors as bytes of a .safetensors file. `path`: on disk; `shown`: what sentences call it. Throws a UserError when
 * there is no torch, or when torch cannot read the file.
 */
export async function readTorchFile(
  path: string,
  shown = path,
  python = pythonCommand()
): Promise<Uint8Array> {
  const { code, stdout, stderr } = await run(python, ['-c', script, path])
  if (code === 0) return stdout
  const failure = v.safeParse(failureSchema, parseLine(stderr.trim().split('\n').at(-1) ?? ''))
  const { kind, message } = failure.success
    ? failure.output
    : { kind: 'no-torch' as const, message: 'it ended without an answer' }
  if (kind === 'file') throw new UserError('usage', `${shown} cannot be read by torch: ${message}.`)
  throw new UserError(
    'usage',
    `${shown} is a file of torch.save, which a Python with torch reads, and ${python} cannot: ${message}. Name a Python that ` +
      'has it in BLOCKSCOPE_PYTHON, or keep the tensors as .safetensors or .npz.'
  )
}

interface Ended {
  code: number | null
  stdout: Uint8Array
  stderr: string
}

function run(program: string, words: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(program, words, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
      timeout: patienceMs,
      killSignal: 'SIGKILL'
    })
    const parts: Buffer[] = []
    let stderr = ''
    child.stdout.on('data', (part: Buffer) => parts.push(part))
    child.stderr.on('data', (part: Buffer) => (stderr += String(part)))
    child.on('error', () =>
      resolve({
        ...{ code: 1, stdout: new Uint8Array() },
        stderr: JSON.stringify({ kind: 'no-torch', message: 'it cannot be started' })
      })
    )
    child.on('close', (code) => resolve({ code, stdout: Buffer.concat(parts), stderr }))
  })
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
