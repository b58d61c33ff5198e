// Mistakes in sm_120's kernel with its instruction emulated (blockScaleMistakes.mjs).
//   node blockScale.mjs
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Checks, cudaDevice } from './addon.mjs'
import { checkMistake, wrongProduct } from './mistaken.mjs'
import { mistakes } from './blockScaleMistakes.mjs'

const file = fileURLToPath(import.meta.url)
const checks = new Checks()
const which = process.argv[2]
await cudaDevice([])
if (which === undefined) {
  await checks.inProcesses(
    file,
    mistakes.map((_, index) => [String(index)])
  )
} else {
  const cache = mkdtempSync(join(tmpdir(), 'blockscope-mistakes-'))
  await checkMistake(
    checks,
    { ...mistakes[Number(which)], says: wrongProduct, n: 136 },
    {
      kernels: ['mma-block-scale-emulated'],
      formats: ['nvfp4', 'mxfp8', 'mixed'],
      cache,
      limit: (row) => {
        for (const launch of row.launches) launch.grid = ['1']
      }
    }
  )
  rmSync(cache, { recursive: true, force: true })
}
checks.end()
