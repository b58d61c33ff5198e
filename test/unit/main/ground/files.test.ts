/** What is written to disk: whole or not at all, for its owner alone, and nothing replaced unasked. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { checkOutput, makeFolder, OutputFile, writeOutput } from '../../../../src-main/ground/files'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'blockscope-files-'))
})
afterEach(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)
const text = (name: string) => readFileSync(at(name), 'utf8')

describe('a file that a person named', () => {
  it('is its owner’s alone, and there is nothing beside it', async () => {
    expect(await writeOutput(at('a.csv'), ['one,', Buffer.from('two')], {})).toBe(7)
    expect(text('a.csv')).toBe('one,two')
    expect(statSync(at('a.csv')).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['a.csv'])
  })

  it('that is there is replaced only when asked for', async () => {
    writeFileSync(at('a'), 'mine')
    await expect(writeOutput(at('a'), ['new'], {})).rejects.toMatchObject({
      kind: 'usage',
      message: `${at('a')} exists; choose another name, or replace it with --force.`
    })
    expect(text('a')).toBe('mine')
    await writeOutput(at('a'), ['new'], { force: true })
    expect(text('a')).toBe('new')
  })

  it('that appears while it is written is not replaced either', () => {
    const file = new OutputFile(at('a'), {})
    file.write('new')
    writeFileSync(at('a'), 'mine')
    expect(() => file.commit()).toThrow(/exists/)
    expect(text('a')).toBe('mine')
    expect(readdirSync(folder)).toEqual(['a'])
  })

  it('leaves what was there, and nothing else, when what makes it fails', async () => {
    writeFileSync(at('a'), 'mine')
    const broken = function* () {
      yield 'half'
      throw new Error('no more')
    }
    await expect(writeOutput(at('a'), broken(), { force: true })).rejects.toThrow('no more')
    expect(text('a')).toBe('mine')
    expect(readdirSync(folder)).toEqual(['a'])
  })

  it('is written where a link leads, and the link stays', async () => {
    writeFileSync(at('real'), 'old')
    symlinkSync(at('real'), at('link'))
    await writeOutput(at('link'), ['new'], { force: true })
    expect(text('real')).toBe('new')
    expect(readFileSync(at('link'), 'utf8')).toBe('new')
  })

  it.runIf(existsSync('/dev/full'))('on a full disk fails with exit code 1 in one sentence', () =>
    expect(writeOutput('/dev/full', ['x'], {})).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/^The disk is full: \/dev\/full could not be written\./)
    })
  )

  it.each([
    ['no/such/file', /there is no folder/],
    ['file/below', /a part of its path is no folder/],
    ['here', /is a folder; name a file/],
    ['x'.repeat(300), /name is too long/]
  ])('is refused before any work as %s', (name, words) => {
    writeFileSync(at('file'), '')
    mkdirSync(at('here'))
    const attempt = () => new OutputFile(at(name), { force: true })
    expect(attempt).toThrow(words)
    expect(attempt).toThrow(expect.objectContaining({ kind: 'usage' }))
    if (name.length < 100) expect(() => checkOutput(at(name), { force: true })).toThrow(words)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'leaves nothing when %s comes in the middle',
    async (signal) => {
      const exits: unknown[] = []
      const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
        exits.push(code)
        throw new Error('ended')
      })
      const pieces = function* () {
        yield Buffer.alloc(9 << 20)
        expect(readdirSync(folder)).toHaveLength(1)
        process.emit(signal, signal)
      }
      await expect(writeOutput(at('a'), pieces(), {})).rejects.toThrow('ended')
      exit.mockRestore()
      expect(exits).toEqual([signal === 'SIGINT' ? 130 : 143])
      expect(readdirSync(folder)).toEqual([])
    }
  )
})

it('a folder of the program’s own is its owner’s alone', async () => {
  await makeFolder(at('a/b'))
  expect([at('a'), at('a/b')].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700])
  await expect(makeFolder('/dev/null')).rejects.toThrow('/dev/null is no folder')
  await expect(makeFolder('/dev/null/x')).rejects.toThrow('/dev/null/x is no folder')
})
