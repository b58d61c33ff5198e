// Changes of sources: how a mistake comes into a copy of them.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Of files of `folder`: file, what it has in one place, and what in its stead. @param {string} folder  @param {[string, string, string][]} changes */
export function change(folder, changes) {
  for (const [file, before, after] of changes) {
    const source = readFileSync(join(folder, file), 'utf8')
    if (source.split(before).length !== 2) throw new Error(`${file} has no one place "${before}"`)
    writeFileSync(
      join(folder, file),
      source.replace(before, () => after)
    )
  }
}
