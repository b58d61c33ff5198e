import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stringifyRun } from '../../../../src-main/store/runFile'
import { RunStore } from '../../../../src-main/store/runStore'
import { sampleRun, sampleStep } from '../../../support/sampleRun'

let folder: string
let store: RunStore

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'blockscope-store-'))
  store = new RunStore(folder)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function put(name: string, text: string): Promise<string> {
  await mkdir(join(folder, name), { recursive: true })
  const path = join(folder, name, 'run.json')
  await writeFile(path, text)
  return path
}

describe('writing and reading a run', () => {
  it('returns what was written, NaN and infinities included', async () => {
    const step = sampleStep(0)
    step.validation = {
      status: 'incorrect',
      reason: 'x',
      atol: 1e-3,
      rtol: 1e-3,
      elements: 4,
      elementsOutside: 1,
      nonFinite: 1,
      maxAbs: Infinity,
      maxRel: NaN,
      normwise: -Infinity,
      maxScaled: 0,
      referenceRms: 1,
      referenceNonZero: 1,
      ulpHistogram: [3, 1],
      errorMap: [NaN, 0.5],
      mapRows: 1,
      mapCols: 2,
      tileRows: 2,
      tileCols: 1,
      failures: [],
      perturbationA: { passed: true, row: 0, block: 0, reason: '' },
      perturbationB: { passed: true, row: 0, block: 0, reason: '' },
      oracle: 'cpu-f64',
      oracleSeconds: 0,
      kernelSeconds: 0
    }
    const writer = await store.create(sampleRun({ steps: [step] }))
    await store.finish(writer)
    expect((await store.read(writer.run.id)).steps[0]).toEqual(step)
  })

  it('gives a second run of the same name a folder of its own', async () => {
    const first = await store.create(sampleRun())
    const second = await store.create(sampleRun())
    expect(second.folder).not.toBe(first.folder)
    expect(second.run.id).toBe(`${first.run.id}-2`)
  })

  it('two processes on one store never write the same folder', async () => {
    const other = new RunStore(folder)
    const writers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => (i % 2 ? store : other).create(sampleRun()))
    )
    expect(new Set(writers.map((writer) => writer.folder)).size).toBe(12)
  })

  it('keeps every finished step when the writer is killed, and drops a torn last line', async () => {
    const writer = await store.create(sampleRun({ status: 'running', steps: [] }))
    await writer.step(sampleStep(0))
    // From here on run.json is not rewritten, as in a long run.
    await appendFile(join(writer.folder, 'steps.jsonl'), stringifyRun(sampleStep(1)) + '\n')
    await appendFile(join(writer.folder, 'steps.jsonl'), '{"index":2,"format":"mx')
    await rm(join(writer.folder, 'owner.json'))
    const run = await store.read(writer.run.id)
    expect(run.steps.map((step) => step.index)).toEqual([0, 1])
    expect(run.status).toBe('interrupted')
    expect(run.reason).toContain('2 steps are saved')
  })

  it('keeps samples of every round of a step', async () => {
    const writer = await store.create(sampleRun())
    await writer.samples(1, 0, { samplesNs: [1, 2], samplesMHz: [100, 101] })
    await writer.samples(11, 0, { samplesNs: [9], samplesMHz: [] })
    await writer.samples(1, 1, { samplesNs: [3], samplesMHz: [102] })
    expect(await store.samples(writer.run.id, 1)).toEqual({
      samplesNs: [1, 2, 3],
      samplesMHz: [100, 101, 102]
    })
  })
})

describe('what cannot be read is said and left alone', () => {
  it('a newer format version', async () => {
    const path = await put('new', JSON.stringify({ formatVersion: 99 }))
    await expect(store.read('new')).rejects.toThrow(/newer blockscope.*format 99.*Update/)
    expect(await readFile(path, 'utf8')).toBe('{"formatVersion":99}')
  })

  it('text that is not JSON, and JSON that is no run, naming the field', async () => {
    await put('torn', '{"formatVersion": 1, "id"')
    await expect(store.read('torn')).rejects.toThrow(/torn\/run.json is damaged/)
    await put('odd', stringifyRun({ ...sampleRun(), steps: [{ ...sampleStep(0), k: 'many' }] }))
    await expect(store.read('odd')).rejects.toThrow(/at steps\.0\.k/)
  })

  it('the list shows a damaged folder with its problem, beside the good ones', async () => {
    await store.finish(await store.create(sampleRun()))
    await put('torn', 'x')
    const list = await store.list()
    expect(list.map((run) => Boolean(run.problem))).toEqual([false, true])
  })

  it.each(['../outside', '.trash', '', 'a/b', '-x'])('refuses the id %j', async (id) => {
    await expect(store.read(id)).rejects.toThrow(/There is no run/)
  })
})

describe('removing, restoring, annotating', () => {
  it('a removed run comes back whole', async () => {
    const writer = await store.create(sampleRun())
    await store.finish(writer)
    await store.remove(writer.run.id)
    expect(await store.list()).toEqual([])
    await store.restore(writer.run.id)
    expect((await store.read(writer.run.id)).steps).toHaveLength(1)
    await expect(store.restore(writer.run.id)).rejects.toThrow(/trash holds no run/)
  })

  it('label and notes are kept', async () => {
    const writer = await store.create(sampleRun())
    await store.finish(writer)
    await store.annotate(writer.run.id, { label: 'before the swizzle', notes: 'n' })
    expect(await store.read(writer.run.id)).toMatchObject({
      label: 'before the swizzle',
      notes: 'n'
    })
  })

  it('refuses to change a run that another living process writes', async () => {
    const writer = await store.create(sampleRun({ status: 'running' }))
    const other = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'])
    try {
      const owner = { pid: other.pid, host: hostname() }
      await writeFile(join(writer.folder, 'owner.json'), JSON.stringify(owner))
      const words = new RegExp(`written by process ${other.pid}`)
      await expect(store.annotate(writer.run.id, { label: 'x' })).rejects.toThrow(words)
      await expect(store.remove(writer.run.id)).rejects.toThrow(words)
    } finally {
      other.kill()
    }
  })
})

describe('a disk that is full', () => {
  it('is said in one sentence, and what was on disk stays', async () => {
    if (!existsSync('/dev/full')) return
    const writer = await store.create(sampleRun())
    const before = await readFile(join(writer.folder, 'run.json'), 'utf8')
    // Writing to /dev/full always fails with ENOSPC.
    await symlink('/dev/full', join(writer.folder, 'samples.jsonl'))
    await expect(writer.samples(0, 0, { samplesNs: [1], samplesMHz: [] })).rejects.toThrow(
      /The disk is full: .*samples.jsonl/
    )
    await symlink('/dev/full', join(writer.folder, `run.json.${process.pid}.tmp`))
    await expect(writer.save()).rejects.toThrow(/The disk is full: .*Earlier results are kept/)
    expect(await readFile(join(writer.folder, 'run.json'), 'utf8')).toBe(before)
  })
})
