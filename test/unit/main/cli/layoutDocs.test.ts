/** The commands that docs/layouts.md prints run as printed, one after another. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

const folder = mkdtempSync(join(tmpdir(), 'layout-docs-'))
const linear = Uint8Array.from({ length: 256 * 8 }, (_, i) => 100 + ((i * 7919) % 53))
writeFileSync(join(folder, 'linear.bin'), linear)
const run = (line: string) =>
  runCommand(
    register,
    line
      .split(' ')
      .slice(1)
      .map((word) => (word.endsWith('.bin') ? join(folder, word) : word))
  )

describe('docs/layouts.md', () => {
  it.each(commands)('%s', async (line) => {
    expect(line).toMatch(/^blockscope layout /)
    const { stdout, stderr } = await run(line)
    expect(stderr).toBe('')
    expect(stdout).not.toBe('')
    if (line.includes(' detect ')) expect(stdout).toContain('nvidia_32_4_4')
    if (line.includes(' unpack ')) {
      expect(readFileSync(join(folder, 'linear.bin'))).toEqual(Buffer.from(linear))
    }
  })

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
