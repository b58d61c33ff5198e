// The Triton provider as the GPU tests drive it: operands through files, C judged by the session.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from './addon.mjs'

export class TritonProvider {
  number = 0
  waiting = new Map()

  constructor(python = process.env.PYTHON ?? 'python3') {
    this.child = spawn(python, [join(root, 'resources/providers/triton/provider.py')], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
    })
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line)
      if (message.event) return
      this.waiting.get(message.id)?.(message)
      this.waiting.delete(message.id)
    })
  }

  static available(python = process.env.PYTHON ?? 'python3') {
    return spawnSync(python, ['-c', 'import torch, triton'], { stdio: 'ignore' }).status === 0
  }

  call(method, params = {}) {
    const id = ++this.number
    return new Promise((resolve, reject) => {
      this.waiting.set(id, ({ result, error }) =>
        error ? reject(Object.assign(new Error(error.message), error)) : resolve(result)
      )
      this.child.stdin.write(JSON.stringify({ id, method, params }) + '\n')
    })
  }

  end() {
    this.child.stdin.write('{"id":0,"method":"end"}\n')
  }
}

/** Writes a session's operands where the provider reads them; `remove()` when done. */
export async function operandFolder(session) {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-operands-'))
  const operands = await session.operands()
  for (const name of ['aCodes', 'bCodes', 'aScales', 'bScales']) {
    writeFileSync(join(folder, `${name}.bin`), operands[name])
  }
  return {
    folder,
    result: join(folder, 'c.bin'),
    read: () => new Uint8Array(readFileSync(join(folder, 'c.bin'))),
    remove: () => rmSync(folder, { recursive: true })
  }
}
