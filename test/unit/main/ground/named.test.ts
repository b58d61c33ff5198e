/** What a person named and is read: one sentence for each way in which it cannot be. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { UserError } from '@shared/errors'
import { readError, readNamed, readNamedSync } from '../../../../src-main/ground/named'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-named-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)
writeFileSync(at('file'), 'text')
symlinkSync(at('ring'), at('ring'))

it('is read whole', async () => {
  expect(String(await readNamed(at('file')))).toBe('text')
  expect(String(readNamedSync(at('file')))).toBe('text')
})

it.each([
  ['none', /none does not exist\.$/],
  ['', /blockscope-named-\w+\/? is a folder; name a file\.$/],
  ['file/in it', /cannot be read: it, or a part of its path, is no folder\.$/],
  ['ring', /ring cannot be read: its symbolic links lead nowhere\.$/],
  ['n'.repeat(300), /cannot be read: the name is too long\.$/]
])('"%.12s" is not', async (name, sentence) => {
  const refused = { name: 'UserError', kind: 'usage', message: expect.stringMatching(sentence) }
  await expect(readNamed(at(name))).rejects.toMatchObject(refused)
  expect(() => readNamedSync(at(name))).toThrow(expect.objectContaining(refused))
})

it('says the flag, and what to do', async () => {
  await expect(readNamed(at('none'), '--operands none', 'name another')).rejects.toThrow(
    /^--operands none does not exist; name another\.$/
  )
})

it('leaves what has been said as it was, and keeps words that it does not know', () => {
  const said = new UserError('failed', 'Said.')
  expect(readError('x', said)).toBe(said)
  expect(readError('x', new Error('bad bytes')).message).toBe('x cannot be read: bad bytes.')
})
