import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runInProcess } from '../../../support/runInProcess'

const store = mkdtempSync(join(tmpdir(), 'blockscope-choices-'))
afterAll(() => rmSync(store, { recursive: true, force: true }))

it('shows how far what auto chose is behind the other kernels of a sweep', async () => {
  const point = ['-M', '64', '-N', '64', '-K', '256,512', '--reps', '20', '--store', store]
  const kernels = ['--kernels', 'auto,cpu-avx2,cpu-portable']
  await runInProcess(['sweep', '--device', 'cpu', '--formats', 'mxfp4', ...kernels, ...point])
  const choices = ['runs', 'choices', 'latest', '--store', store]
  const { stdout, code } = await runInProcess([...choices, '--at-most', '900'])
  expect(stdout).toMatch(/^mxfp4 64 x 64 x 512 +cpu-\S+ +[\d.]+ +cpu-\S+ +[\d.]+ +[\d.]+ +cpu-/m)
  expect(stdout).toMatch(
    /^2 problems of 2 compared; at most [\d.]+ of the best exact kernel's time\.$/m
  )
  expect(code).toBe(0)
  const json = await runInProcess([...choices, '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({
    choices: [{ problem: 'mxfp4 64 x 64 x 256', overExact: expect.any(Number) }, {}]
  })
})

it('compares with what others chose to measure, of a folder too', async () => {
  const { stdout, code } = await runInProcess([
    ...['runs', 'choices', 'docs/results/h200-gpt-oss-120b']
  ])
  expect(stdout).toContain(
    "24 problems of 32 compared; at most 1.000 of the best exact kernel's time."
  )
  expect(code).toBe(0)
})

it("chooses again by today's costs among the kernels that were timed", async () => {
  // Made with costs that were fitted to it afterwards.
  const words = ['runs', 'choices', 'docs/results/h100-rows-list']
  const point = /^nvfp4 192 x 7168 x 2048 +(\S+) .*$/m
  const then = await runInProcess(words)
  expect(point.exec(then.stdout)![1]).toBe('decode')
  const problem = 'nvfp4 192 x 7168 x 2048: '
  expect(then.stdout).toContain(`${problem}decode takes 7.4 % more than wgmma.`)
  const { stdout, stderr } = await runInProcess([...words, '--again'])
  expect(point.exec(stdout)![1]).toBe('wgmma')
  expect(stdout).not.toContain(problem)
  expect(stdout).toMatch(/^142 problems of 165 compared; /m)
  expect(stderr).toContain('a kernel that was rewritten since has the time of then.')
})

it('takes --kernel-dir with --again only, and needs to know the device then', async () => {
  const words = ['runs', 'choices', 'docs/results/h200-decode-list', '--kernel-dir', store]
  const alone = await runInProcess(words)
  expect(alone.stderr).toContain('--kernel-dir goes with --again.')
  expect(alone.code).toBe(2)
  const { device: _device, ...run } = JSON.parse(
    readFileSync('docs/results/h200-4096/run.json', 'utf8')
  )
  const folder = join(store, 'of-no-device')
  mkdirSync(folder)
  writeFileSync(join(folder, 'run.json'), JSON.stringify(run))
  const { stderr, code } = await runInProcess(['runs', 'choices', folder, '--again'])
  expect(stderr).toContain(`${folder} does not say on which device it was made.`)
  expect(code).toBe(2)
})

it('fails where nothing was timed beside a choice; groups are told in words', async () => {
  const { stdout, code } = await runInProcess([
    ...['runs', 'choices', 'docs/results/h200-gpt-oss-grouped']
  ])
  expect(stdout).toMatch(/^mxfp4 8192 x 5760 x 2880, 64 groups of 1 row, contiguous +decode-fp8 /m)
  expect(stdout).toContain('No kernel was timed beside a choice: name others too.')
  expect(code).toBe(1)
})

it('refuses what is no run', async () => {
  const { stderr, code } = await runInProcess(['runs', 'choices', 'nowhere', '--store', store])
  expect(stderr).toContain('no run "nowhere"')
  expect(code).toBe(2)
})
