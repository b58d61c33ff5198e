import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  onDisplay,
  readAppState,
  withRecentFile,
  writeAppState
} from '../../../../src-main/desktop/appState'
import { filesOf } from '../../../../src-main/desktop/openFiles'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-state-'))
const path = join(folder, 'state.json')
afterAll(() => rmSync(folder, { recursive: true }))

const state = {
  window: { bounds: { x: 10, y: 20, width: 1200, height: 800 }, isMaximized: true },
  recentFiles: ['/a.hatchet']
}

describe('the state of the app', () => {
  it('comes back as it was written, and leaves no other file', () => {
    writeAppState(path, state)
    expect(readAppState(path)).toEqual(state)
    expect(readdirSync(folder).filter((name) => name.startsWith('state'))).toEqual(['state.json'])
  })
  it.each([
    ['no JSON', '{"window":'],
    ['of another shape', '{"window":{"bounds":{"width":"wide"}}}'],
    ['absurd', JSON.stringify({ ...state, window: { bounds: { width: 1e9, height: 5 } } })]
  ])('is the first one again when the file is %s', (_name, text) => {
    writeFileSync(path, text)
    expect(readAppState(path)).toEqual(readAppState(join(folder, 'none')))
    expect(readAppState(path).window.bounds).toEqual({ width: 1440, height: 900 })
  })
})

describe('the window', () => {
  const displays = [
    { x: 0, y: 0, width: 1920, height: 1080 },
    { x: 1920, y: 0, width: 1280, height: 1024 }
  ]
  const at = (x: number, y: number) =>
    onDisplay({ bounds: { x, y, width: 800, height: 600 }, isMaximized: false }, displays).bounds
  it('opens where it was while that can be seen', () => {
    expect(at(100, 100)).toMatchObject({ x: 100, y: 100 })
    expect(at(2500, 500)).toMatchObject({ x: 2500, y: 500 })
    expect(at(-700, 0)).toMatchObject({ x: -700 })
  })
  it('opens in the middle when it could not be reached there', () => {
    for (const [x, y] of [
      [3200, 0],
      [-790, 0],
      [0, -10],
      [0, 1060],
      [5000, 5000]
    ] as const)
      expect(at(x, y)).toEqual({ width: 800, height: 600 })
  })
})

describe('recent files', () => {
  it('have the newest first, each once, ten at most', () => {
    expect(withRecentFile(['a', 'b', 'c'], 'b')).toEqual(['b', 'a', 'c'])
    const many = Array.from({ length: 10 }, (_, i) => String(i))
    expect(withRecentFile(many, 'new')).toEqual(['new', ...many.slice(0, 9)])
  })
})

describe('files on the command line', () => {
  const file = join(folder, 'run.hatchet')
  writeFileSync(file, '{}')
  it('are those that exist and are profiles, from the folder of the command', () => {
    const argv = ['/opt/blockscope', '--enable-x', 'run.hatchet', 'none.hatchet', 'notes.txt']
    expect(filesOf(argv, folder, false)).toEqual([file])
  })
  it('do not include the app itself while developing', () => {
    expect(filesOf(['electron', 'run.hatchet'], folder, true)).toEqual([])
    expect(filesOf(['electron', '.', file], '/', true)).toEqual([file])
  })
})
