import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runInProcess } from '../../../support/runInProcess'

const small = ['-M', '128', '-N', '96', '-K', '256']
let store: string

beforeAll(async () => {
  store = await mkdtemp(join(tmpdir(), 'blockscope-runs-'))
})
afterAll(() => rm(store, { recursive: true, force: true }))

const runs = (...args: string[]) => runInProcess(['runs', ...args, '--store', store])

describe('runs', () => {
  it('lists, shows, exports, imports, removes and restores', async () => {
    expect((await runs('list')).stdout).toContain('No runs yet')
    await runInProcess(['validate', '--formats', 'mxfp4', ...small, '--store', store])
    const listed = JSON.parse((await runs('list', '--json')).stdout) as { id: string }[]
    const id = listed[0]!.id
    expect((await runs('show', id)).stdout).toContain('blockscope validate --formats mxfp4')
    expect((await runs('export', id, '--as', 'csv', '--output', '-')).stdout).toMatch(/^format,/)
    const bundle = join(store, 'bundle.blockscope-run')
    expect((await runs('export', id, '--as', 'folder', '--output', bundle)).code).toBe(0)
    expect((await runs('import', bundle)).stdout).toContain('Imported as')
    expect(JSON.parse((await runs('list', '--json')).stdout)).toHaveLength(2)
    expect((await runs('rm', id)).code).toBe(0)
    expect((await runs('show', id)).code).toBe(2)
    expect((await runs('restore', id)).code).toBe(0)
    expect((await runs('show', id, '--advice')).stdout).toContain('No point stands out.')
    expect((await runs('import', 'test/fixtures/runs/h200-8192/run.json')).code).toBe(0)
    const [measured] = (
      JSON.parse((await runs('list', '--json')).stdout) as { id: string; device: string }[]
    ).filter(({ device }) => device.includes('H200'))
    expect((await runs('show', measured!.id, '--advice')).stdout).toMatch(
      /mxfp4 wgmma 8192 x 8192 x 8192: widen takes 5 % of the time/
    )
    const junit = await runs('export', measured!.id, '--as', 'junit', '--output', '-')
    expect(junit.stdout).toMatch(/<testsuites name="blockscope sweep .* failures="0" errors="0"/)
    expect((await runs('compare', id, id)).stdout).toMatch(/^same +mxfp4 cpu-\S+ 128 x 96 x 256 /)
    expect((await runs('compare', id, measured!.id)).stdout).toContain(
      'no measured point in common'
    )
    const history = await runs('history', '--baseline', measured!.id)
    expect(history.stdout).toMatch(/TFLOP\/s +q1-q3 .*\+0\.0 % to the baseline +first/)
  })

  it('shows, compares and exports what lies in a folder outside the store, and says of the rest how to bring it in', async () => {
    const saved = 'docs/results/h200-8192'
    expect((await runs('show', saved)).stdout).toContain('on NVIDIA H200 (sm_90).')
    expect((await runs('compare', saved, `${saved}/`)).stdout).toMatch(
      /^SAME +1\.0000x +mxfp4 wgmma 8192 x 8192 x 8192 /
    )
    const spread = await runInProcess(['fleet', 'compare', saved, '--store', store])
    expect(spread.stdout).toContain('No point of this run was measured in more than one place.')
    const bundle = join(store, 'saved.blockscope-run')
    const exported = await runs('export', saved, '--as', 'folder', '--output', bundle)
    expect(exported).toMatchObject({ code: 0, stderr: '' })
    const { id } = JSON.parse(await readFile(join(saved, 'run.json'), 'utf8')) as { id: string }
    expect((await runs('import', bundle)).stdout).toContain(`Imported as ${id}`)
    expect((await runs('import', saved)).stdout).toContain(`Imported as ${id}-2`)
    const [one, two] = await Promise.all(
      [id, `${id}-2`].map((name) => readFile(join(store, name, 'profile.hatchet'), 'utf8'))
    )
    expect(two).toBe(one)
    expect(await runs('import', 'docs')).toMatchObject({
      code: 2,
      stderr: 'blockscope: docs is no run folder: it has no readable run.json.\n'
    })
    for (const verb of ['resume', 'rm', 'cancel']) {
      const { code, stderr } = await runs(verb, saved)
      expect(code).toBe(2)
      expect(stderr).toBe(
        `blockscope: ${saved} holds a run that is not of this store. "blockscope runs import ${saved}" brings it in.\n`
      )
    }
  })

  it('refuses a run of a newer version and leaves it as it is', async () => {
    const folder = join(store, 'newer')
    await mkdir(folder)
    await writeFile(join(folder, 'run.json'), '{"formatVersion": 7}')
    const { code, stderr } = await runs('show', 'newer')
    expect(code).toBe(2)
    expect(stderr).toMatch(/written by a newer blockscope.*Update blockscope/)
    expect(await readFile(join(folder, 'run.json'), 'utf8')).toBe('{"formatVersion": 7}')
  })
})
