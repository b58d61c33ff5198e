/** A file of Python kernels that comes in through the window: told of, asked about once, kept by its content. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { MessageBoxOptions } from 'electron'
import { afterAll, beforeEach, expect, it, vi } from 'vitest'
import { takePythonFiles } from '../../../../src-main/desktop/pythonFiles'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-python-files-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let answer = 0
let chosen: string[] = []
const showMessageBox = vi.fn(async (_question: MessageBoxOptions) => ({ response: answer }))
const showOpenDialog = vi.fn(async () => ({ canceled: chosen.length === 0, filePaths: chosen }))
const dialog = { showMessageBox, showOpenDialog } as never
const taker = () => takePythonFiles({ dialog, window: () => undefined, folder })
const file = (text: string, name = 'mine.py') => ({ name, bytes: new TextEncoder().encode(text) })

beforeEach(() => {
  answer = 0
  chosen = []
  showMessageBox.mockClear()
  showOpenDialog.mockClear()
})

it('says what would be started, and starts nothing unless told to', async () => {
  answer = 1
  expect(await taker()(file('import os', 'refused.py'))).toBeUndefined()
  const question = showMessageBox.mock.calls[0]![0]
  expect(question).toMatchObject({ message: 'Start Python with refused.py?', defaultId: 1 })
  expect(question.detail).toMatch(/^\S+ is started with it now, and again for every step of a job/)
  expect(question.detail).toContain('it can do whatever you can')
  const path = /It is kept as (.*)\.$/.exec(question.detail!)![1]!
  expect(existsSync(path)).toBe(false)
})

it('asks once for one text, and again for another under its name', async () => {
  const take = taker()
  const first = await take(file('x = 1'))
  expect(basename(first!)).toBe('mine.py')
  expect(readFileSync(first!, 'utf8')).toBe('x = 1')
  expect(statSync(first!).mode & 0o077).toBe(0)
  expect(statSync(dirname(first!)).mode & 0o077).toBe(0)
  expect(await take(file('x = 1'))).toBe(first)
  expect(showMessageBox).toHaveBeenCalledTimes(1)
  expect(await take(file('x = 2'))).not.toBe(first)
  expect(showMessageBox).toHaveBeenCalledTimes(2)
})

it('one that is chosen stays where it is; none chosen is none asked about', async () => {
  const take = taker()
  expect(await take()).toBeUndefined()
  expect(showMessageBox).not.toHaveBeenCalled()
  chosen = ['/home/me/kernels/mine.py']
  expect(await take()).toBe('/home/me/kernels/mine.py')
  expect(showMessageBox.mock.calls[0]![0].message).toBe(
    'Start Python with /home/me/kernels/mine.py?'
  )
  expect(showMessageBox.mock.calls[0]![0].detail).not.toContain('It is kept as')
  expect(await take()).toBe('/home/me/kernels/mine.py')
  expect(showMessageBox).toHaveBeenCalledTimes(1)
})
