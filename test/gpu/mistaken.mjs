// Kernels with a mistake: changes of their source, of which a validation must say something.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configure, open, root, validated } from './addon.mjs'
import { change } from './change.mjs'

export const wrongProduct = 'a wrong product'

/** In a kernel. @typedef {{ name: string, changes: import('./change.mjs').Changes, says: RegExp | string, m?: number, n?: number, k?: number, formats?: string[], kernels?: string[] }} KernelMistake */

/** A folder with the kernel alone, changed; `limit` changes its row, so that a block has several tiles. */
export function mistakenKernel({ changes }, id, limit) {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-mistake-'))
  const from = join(root, 'resources/kernels/cuda')
  cpSync(from, folder, { recursive: true })
  const row = JSON.parse(readFileSync(join(from, 'manifest.json'), 'utf8')).kernels.find(
    ({ variants }) => variants?.some((variant) => variant.id === id)
  )
  row.variants = row.variants.filter((variant) => variant.id === id)
  row.variants[0].id = 'mistaken'
  limit(row)
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ kernels: [row] }))
  change(folder, changes)
  return folder
}

/** The mistake in each of `kernels`, or those that it names: what the validation says. */
export async function checkMistake(checks, mistake, { kernels, formats, cache, limit }) {
  for (const id of mistake.kernels ?? kernels) {
    await checks.attempt(`${mistake.name}, ${id}`, async () => {
      const folder = mistakenKernel(mistake, id, limit)
      configure(cache, [folder])
      for (const format of mistake.formats ?? formats) {
        const name = `${mistake.name}, ${id} ${format}`
        const { m = 40, n = 24, k = 1024 } = mistake
        const session = await open(format, m, n, k, { output: 'f32' })
        let said
        try {
          const { status } = await validated(session, 'mistaken', { rtol: 8e-3 })
          said = status === 'incorrect' ? wrongProduct : status
        } catch (error) {
          said = error.message
        }
        await session.close()
        const { says } = mistake
        checks.check(name, says instanceof RegExp ? says.test(said) : said === says, said)
        console.log(`${name}: ${said}`)
      }
      rmSync(folder, { recursive: true })
    })
  }
}
