/** What `blockscope open` refuses before anything opens, and the page it asks for. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { pageFor, register } from '../../../../src-main/cli/open'
import { isPage, pageOf } from '../../../../src-main/desktop/openFiles'
import { runCommand } from './runCommand'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-open-'))
vi.stubEnv('XDG_DATA_HOME', folder)
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})
const profile = join(folder, 'run.hatchet')
const kernel = { frame: { name: 'mat & mul', type: 'function' }, metrics: { 'time (ns)': 5 } }
const root = { frame: { name: 'ROOT', type: 'function' }, metrics: {}, children: [kernel] }
writeFileSync(profile, JSON.stringify([root]))
const trace = join(folder, 'step.trace.json')
writeFileSync(
  trace,
  JSON.stringify({
    traceEvents: [
      { ph: 'X', cat: 'kernel', name: 'gemm', pid: 0, tid: 7, ts: 10, dur: 2000 },
      { ph: 'X', cat: 'kernel', name: 'copy', pid: 0, tid: 7, ts: 3010, dur: 1000 }
    ]
  })
)
const torn = join(folder, 'torn.hatchet')
writeFileSync(torn, '[{"frame":')
const inner = join(folder, 'inner')
mkdirSync(inner)

describe('the page that blockscope open asks for', () => {
  it('is the profile view for a file, with the node to select', async () => {
    expect(await pageFor(profile, {})).toBe('/profile')
    const page = await pageFor(profile, { node: 'ROOT > mat & mul' })
    expect(page).toBe('/profile?node=ROOT+%3E+mat+%26+mul')
    expect(pageOf(['app', `--page=${page}`])).toBe(page)
  })
  it('is the timeline for a range of a trace', async () => {
    const page = await pageFor(trace, { range: '1ms..3.5ms' })
    expect(page).toBe('/timeline?range=1ms..3.5ms')
    expect(pageOf(['app', `--page=${page}`])).toBe(page)
    expect(await pageFor(trace, { range: '1ms..', view: 'timeline' })).toBe('/timeline?range=1ms..')
  })
  it('is a view by its name, or the first one', async () => {
    expect(await pageFor(undefined, { view: 'layouts' })).toBe('/layouts')
    expect(await pageFor(undefined, {})).toBe('/devices')
  })
  it.each([
    ['no such file', join(folder, 'none.hatchet'), {}, /none\.hatchet/],
    ['a damaged file', torn, {}, /torn\.hatchet|JSON|ends/],
    ['a folder', inner, {}, /inner/],
    ['an unknown view', undefined, { view: 'profiles' }, /--view profiles: choose one of devices/],
    ['another view for a file', profile, { view: 'sweep' }, /opens in profile or timeline/],
    ['an unknown node', profile, { node: 'ROOT > conv' }, /has no node "ROOT > conv"/],
    ['a node of nothing', undefined, { node: 'ROOT' }, /give a FILE or --run/],
    ['an unknown run', undefined, { run: '20990101-000000-sweep' }, /20990101-000000-sweep/],
    ['a run outside the store', undefined, { run: '../../etc' }, /\.\.\/\.\.\/etc/],
    ['a range in a view without time', trace, { range: '1ms..2ms', view: 'profile' }, /timeline/],
    ['a range of nothing', undefined, { range: '1ms..2ms' }, /give a FILE or --run/],
    ['a range of sums', profile, { range: '1ms..2ms' }, /run\.hatchet has no timeline/],
    ['a range that is none', trace, { range: '5..6' }, /'5' is no time with a unit/],
    ['a range after the end', trace, { range: '1s..2s' }, /the trace ends after 4 ms/],
    ['a file and a run', profile, { run: 'x' }, /exclude each other/]
  ])('refuses %s as wrong usage, in one sentence', async (_what, file, flags, message) => {
    const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value as string])
    const refused = runCommand(register, ['open', ...(file ? [file] : []), ...words])
    await expect(refused).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringMatching(message)
    })
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining('\n') })
  })
})

it('the desktop app takes a view and its parameters as page, and nothing else', () => {
  expect(isPage('/runs?run=20261120-1&node=a%20b')).toBe(true)
  for (const page of ['//evil.example', '/x#t=1', 'javascript:1', '/../x', '/profile?a=<b>'])
    expect(pageOf(['app', `--page=${page}`]), page).toBeUndefined()
  expect(pageOf(['app', 'run.hatchet'])).toBeUndefined()
})
