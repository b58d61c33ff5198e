/** What docs/layouts.md quotes is what is printed; that its commands run is test/unit/docs/printedCommands.test.ts. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseUserLayout } from '@shared/layouts/userLayout'
import { register } from '../../../../src-main/cli/layout'
import { runCommand } from './runCommand'

const page = readFileSync('docs/layouts.md', 'utf8')
/** What stands in the fenced blocks of a section. */
const blocksOf = (title: string) => {
  const section = page.split(/^## /m).find((text) => text.startsWith(title)) ?? ''
  return [...section.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, block]) => block!)
}
const commands = blocksOf('Commands')[0]!.trim().split('\n')

const run = (line: string) => runCommand(register, line.split(' ').slice(1))

describe('docs/layouts.md', () => {
  it('quotes the readers of a scale as locate prints them', async () => {
    const { stdout } = await run(commands.find((line) => line.includes(' locate '))!)
    const quoted = blocksOf('Who reads a scale')[0]!.trim().split('\n')
    expect(quoted.length).toBeGreaterThan(0)
    for (const line of quoted) expect(stdout).toContain(line)
  })

  it('shows a layout of your own that can be read', () => {
    const [description] = blocksOf('A layout of your own')
    expect(parseUserLayout(description!, 'docs').name).toBe('mine')
  })
})
