/** Variables of the environment that the program reads are in its documents, and those that are there are read. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const tracked = (...patterns: string[]) =>
  execFileSync('git', ['ls-files', ...patterns], { encoding: 'utf8' })
    .trim()
    .split('\n')
const section = readFileSync('docs/command-line.md', 'utf8').split('## Environment')[1]!
const documented = [...section.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name]) => name!)

it('docs/command-line.md lists each of them', () => {
  const read = new Set<string>()
  for (const path of tracked('src-main/*.ts', 'native/*.cpp').filter(
    (one) => !one.includes('/test/')
  )) {
    const text = readFileSync(path, 'utf8')
    const named = [
      ...text.matchAll(/\b(?:env|environment)\.([A-Z][A-Z_]+)/g),
      ...text.matchAll(/(?:getenv|baseFolder|environment\.variable)\(['"]([A-Z_]+)['"]/g),
      // A list of them that a loop looks through.
      ...[...text.matchAll(/const char\* variable : \{([^}]*)\}/g)].flatMap(([, list]) => [
        ...list!.matchAll(/"([A-Z_]+)"/g)
      ])
    ]
    for (const [, name] of named) read.add(name!)
  }
  // Set by the development server for the desktop shell, never by a person.
  read.delete('ELECTRON_RENDERER_URL')
  expect([...read].sort()).toEqual([...documented].sort())
})
