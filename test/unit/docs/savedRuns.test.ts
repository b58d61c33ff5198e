/** What the project keeps of measurements says nothing of the machine's folders: only where drivers and toolkits put their libraries. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const kept = execFileSync('git', ['ls-files', 'docs/results', 'resources/examples'], {
  encoding: 'utf8'
})
  .trim()
  .split('\n')

it.each(kept)('%s holds no path of a machine', (file) => {
  // Within a command's words too.
  const paths = [...readFileSync(file, 'utf8').matchAll(/(?<=["\s=:,'])\/[\w.-]+\/[^"\s]*/g)].map(
    ([path]) => path
  )
  expect(paths.filter((path) => !path.startsWith('/usr/local/'))).toEqual([])
})
