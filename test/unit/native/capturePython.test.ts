/** --python: what the injected library reads of each interpreter's frames, against what that interpreter says itself. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { accountSentences } from '@shared/capture/accountSentences'
import { launchOf, type LaunchRow } from '@shared/capture/launchTable'
import type { ShardNames } from '@shared/capture/shardNames'
import {
  newCaptureFolder,
  readShards,
  startCaptured,
  stubDriver,
  stubProgram
} from '../../support/captureStubs'

const script = resolve('test/support/python/launches.py')
const folders: string[] = []

const pyenv = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions')
const versionsOfPyenv = existsSync(pyenv) ? readdirSync(pyenv) : []
const candidates = [
  ...['python3', '/usr/bin/python3'],
  ...[9, 10, 11, 12, 13].map((minor) => `python3.${minor}`),
  ...versionsOfPyenv.map((version) => join(pyenv, version, 'bin', 'python3'))
]
const ask =
  "import sys, sysconfig; print(sys.version.split()[0], sysconfig.get_config_var('Py_GIL_DISABLED') or 0, sys.executable)"

/** Interpreters of this machine, one of each version: system's, or others beside it. */
function findPythons(): [version: string, file: string][] {
  const found = new Map<string, string>()
  for (const candidate of process.platform === 'linux' ? candidates : []) {
    const { status, stdout } = spawnSync(candidate, ['-c', ask], { encoding: 'utf8' })
    const [version = '', isFree, file = ''] = stdout?.trim().split(' ') ?? []
    if (status === 0 && /^3\.(9|1[0-3])\./.test(version) && isFree === '0') found.set(version, file)
  }
  return [...found]
}
const pythons = findPythons()

async function launchesOf(command: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const folder = newCaptureFolder()
  folders.push(folder)
  const asked = { BLOCKSCOPE_CAPTURE_PYTHON: '1', ...environment }
  const ended = await startCaptured(folder, command, asked).done
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  const launches: LaunchRow[] = []
  let names!: ShardNames
  const { accounts } = readShards(folder, {
    process: (current) => (names = current),
    activity: (activity) => launches.push(launchOf(activity, names, ''))
  })
  launches.sort((a, b) => a.correlation - b.correlation)
  return { launches, account: accounts[0]!, stdout: ended.stdout }
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

describe.skipIf(pythons.length === 0)('Python call paths', () => {
  it.each(pythons)('of Python %s are those that it names itself', async (version, file) => {
    const { launches, account, stdout } = await launchesOf([file, script, stubDriver])
    const said = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as string[])
    expect(said).toHaveLength(35)
    // The outermost of more than 512 frames are left out, and that is said.
    const expected = said.map(([name, ...path]) =>
      path.length > 512 ? [name, '<frames further out>', ...path.slice(-512)] : [name, ...path]
    )
    expect(launches.map(({ name, python }) => [name, ...python])).toEqual(expected)
    expect(expected.some(([, outermost]) => outermost === '<frames further out>')).toBe(true)
    const ranges = launches.flatMap(({ name, path }) => path.map((range) => `${name}: ${range}`))
    expect(ranges).toEqual(['in a range: step'])
    expect(said.find(([name]) => name === 'deep')!.length).toBeGreaterThan(40)
    expect(account.python).toEqual({ version, missing: '', calls: 35, forgotten: 0 })
    expect(accountSentences([account])).toEqual([])
  })

  it('are not looked for where nobody asked', async () => {
    const { launches, account } = await launchesOf([pythons[0]![1], script, stubDriver], {
      BLOCKSCOPE_CAPTURE_PYTHON: ''
    })
    expect(launches).toHaveLength(35)
    expect(launches.every(({ python }) => python.length === 0)).toBe(true)
    expect(account.python).toBeUndefined()
  })
})

describe.skipIf(process.platform !== 'linux')('a program without Python', () => {
  it('is captured as ever, and says once that it has none', async () => {
    const words = ['push:step', 'launch:gemm:3', 'pop', 'graph:2:2', 'exit:0']
    const { launches, account } = await launchesOf([stubProgram, ...words])
    expect(launches.map(({ path, python }) => [...path, ...python])).toEqual([
      ...[['step'], ['step'], ['step']],
      ...[[], [], [], []]
    ])
    expect(accountSentences([account])).toEqual([
      expect.stringMatching(
        /^program \d+ has no Python call paths: there is no Python in this process\.$/
      )
    ])
  })
})
