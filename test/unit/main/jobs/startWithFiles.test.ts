/** Operands and C that come as bytes, as the page sends what is dropped: the job is that of `judge` with the same files. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { ValidateSpecInput } from '@shared/contract/jobs'
import type { Run } from '@shared/contract/run'
import { localApplication } from '../../../../src-main/cli/localApplication'
import { arrayFileOnDisk } from '../../../../src-main/jobs/arrays/arrayFiles'
import { connectInProcess } from '../../../../src-main/transports/inProcess'
import { runInProcess } from '../../../support/runInProcess'
import { writeCheckpoint } from '../../../support/writeCheckpoint'

const store = mkdtempSync(join(tmpdir(), 'blockscope-with-files-'))
const application = localApplication({ store }, { host: 'test', mayReadFiles: false })
const client = connectInProcess(application.handlers)
afterAll(async () => {
  await application.close()
  rmSync(store, { recursive: true, force: true })
})

const fixtures = 'test/fixtures/judge'
const operands = `${fixtures}/operands.safetensors`
const fileOf = (path: string, name = basename(path)) => ({
  name,
  bytes: Uint8Array.from(readFileSync(path))
})
const spec: ValidateSpecInput = { kind: 'validate', device: 'cpu', formats: ['mxfp4'] }

async function done(files: ReturnType<typeof fileOf>[]): Promise<Run> {
  const { id } = await client.call('jobs.startWithFiles', { spec, files })
  await client.call('jobs.watch', { id })
  return client.call('runs.get', { id })
}

it('judges the C among them as the command line does', async () => {
  const result = `${fixtures}/c_transposed.npy`
  const run = await done([fileOf(result), fileOf(operands)])
  const { stdout } = await runInProcess([
    ...['judge', '--operands', operands, '--result', result, '--device', 'cpu', '--json'],
    ...['--store', join(store, 'of-judge')]
  ])
  const ofJudge = JSON.parse(stdout) as Run
  const { oracleSeconds: _a, comparisonSeconds: _b, ...dropped } = run.steps[0]!.validation!
  expect(ofJudge.steps[0]!.validation).toMatchObject(JSON.parse(JSON.stringify(dropped)) as object)
  expect(dropped.judgement!.findings[0]!.sentence).toContain('B is read as its transpose')
  expect(run.spec).toMatchObject({
    formats: ['nvfp4'],
    operandsFiles: ['operands.safetensors'],
    resultFile: 'c_transposed.npy'
  })
  expect(run.command).toBe(
    'blockscope judge --device cpu --operands operands.safetensors --result c_transposed.npy'
  )
  expect(run.operandsRead).toHaveLength(2)
  expect(run.operandsRead).toEqual(ofJudge.operandsRead)
})

it('validates kernels with operands that come alone', async () => {
  const run = await done([fileOf(operands)])
  expect(run.steps.length).toBeGreaterThan(0)
  expect(run.steps.every(({ disposition }) => disposition === 'passed')).toBe(true)
  expect(run.steps[0]).toMatchObject({ format: 'nvfp4', m: 128, n: 128, k: 512 })
})

it('takes operands from several files, and so does the command that it prints', async () => {
  const { arrays, metadata } = await arrayFileOnDisk(operands, '--operands')
  const folder = mkdtempSync(join(store, 'apart-'))
  const parts = [/^a_(codes|tensor)/, /^b_(codes|tensor)/, /_scales$/].map((names, i) => {
    const path = join(folder, `${['a', 'b', 'scales'][i]} apart.safetensors`)
    writeCheckpoint(
      path,
      arrays.filter(({ name }) => names.test(name)),
      i === 0 ? metadata : {}
    )
    return path
  })
  const result = join(folder, 'c.npy')
  copyFileSync(`${fixtures}/c_right.npy`, result)
  const run = await done([result, ...parts].map((path) => fileOf(path)))
  expect(run.steps).toMatchObject([{ format: 'nvfp4', disposition: 'passed' }])
  expect(run.command).toBe(
    "blockscope judge --device cpu --operands 'a apart.safetensors' 'b apart.safetensors' 'scales apart.safetensors' --result c.npy"
  )
  // As pasted into a shell in their folder.
  const program = `${process.execPath} ${resolve('out/node/blockscope.js')}`
  const command = run.command.replace('blockscope', `exec ${program}`)
  const printed = execFileSync('sh', ['-c', `${command} --store '${store}' --json`], {
    cwd: folder,
    encoding: 'utf8'
  })
  const again = JSON.parse(printed) as Run
  expect(again.steps).toMatchObject([{ format: 'nvfp4', disposition: 'passed' }])
  // From the folder that it ran in.
  expect(again.spec).toMatchObject({
    operandsFiles: parts.map((path) => basename(path)),
    resultFile: basename(result)
  })
})

it('refuses files that are not of one job, in a sentence', async () => {
  const [right, wrong] = [`${fixtures}/c_right.npy`, `${fixtures}/c_unwritten.npy`]
  const refused: [ReturnType<typeof fileOf>[], RegExp][] = [
    [[fileOf(right)], /^c_right\.npy: no array is called a_codes/],
    [
      [fileOf(operands), fileOf(right), fileOf(wrong)],
      /c_right\.npy and c_unwritten\.npy hold no operands/
    ],
    [
      [fileOf(operands), fileOf(right, 'operands.safetensors')],
      /Two of the files are called operands\.safetensors/
    ]
  ]
  for (const [files, words] of refused)
    await expect(client.call('jobs.startWithFiles', { spec, files })).rejects.toThrow(words)
  const named = { ...spec, operandsFiles: ['/etc/passwd'] }
  await expect(
    client.call('jobs.startWithFiles', { spec: named, files: [fileOf(operands)] })
  ).rejects.toThrow(/none is named in it besides/)
})
