import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  appendFile,
  chmod,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile
} from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { stringifyRun } from '../../../../src-main/store/runFile'
import { defaultStoreFolder, RunStore } from '../../../../src-main/store/runStore'
import { sampleRun, sampleStep } from '../../../support/sampleRun'
import { storeForEach } from '../../../support/storeForEach'

let folder: string
let store: RunStore

storeForEach((...given) => ([store, folder] = given))

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
      rule: 'allowances',
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
      perturbationA: { state: 'passed', row: 0, block: 0, reason: '' },
      perturbationB: { state: 'passed', row: 0, block: 0, reason: '' },
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
    expect(run.reason).toContain('what was done is saved')
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

  it('a label and notes that are given at once are both kept', async () => {
    const writer = await store.create(sampleRun())
    await store.finish(writer)
    const { id } = writer.run
    await Promise.all([
      store.annotate(id, { label: 'before the swizzle' }),
      store.annotate(id, { notes: 'tile 128' })
    ])
    expect(await store.read(id)).toMatchObject({ label: 'before the swizzle', notes: 'tile 128' })
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

describe('the trash', () => {
  const finished = async () => {
    const writer = await store.create(sampleRun())
    await store.finish(writer)
    return writer.run.id
  }

  it('keeps a run that is removed twice: the second time there is nothing to remove', async () => {
    const id = await finished()
    await store.remove(id)
    await expect(store.remove(id)).rejects.toThrow(`There is no run "${id}"`)
    await store.restore(id)
    expect((await store.read(id)).steps).toHaveLength(1)
  })

  it('keeps two runs of one id, and brings back the later first', async () => {
    const id = await finished()
    await store.annotate(id, { label: 'first' })
    await store.remove(id)
    await finished()
    await store.annotate(id, { label: 'second' })
    await store.remove(id)
    await store.restore(id)
    expect((await store.read(id)).label).toBe('second')
    await expect(store.restore(id)).rejects.toThrow(`There is a run ${id} already`)
    await store.remove(id)
    await store.restore(id)
    await store.annotate(id, { label: 'second' })
    await expect(store.restore('nothing')).rejects.toThrow(
      /trash holds no run "nothing"\. It holds/
    )
  })
})

describe('a folder that a person names for a run', () => {
  it('is left alone when it holds anything', async () => {
    const named = join(folder, 'mine')
    await store.finish(await store.create(sampleRun(), named))
    const before = await readFile(join(named, 'run.json'), 'utf8')
    await expect(store.create(sampleRun({ label: 'again' }), named)).rejects.toThrow(
      `${named} is not empty; name a new folder for this run.`
    )
    expect(await readFile(join(named, 'run.json'), 'utf8')).toBe(before)
    const other = join(folder, 'other')
    await mkdir(other)
    await writeFile(join(other, 'trace.json'), 'mine')
    await expect(store.create(sampleRun(), other)).rejects.toThrow('is not empty')
    expect(await readdir(other)).toEqual(['trace.json'])
  })
  it('may be empty, and cannot be a file', async () => {
    const empty = join(folder, 'empty')
    await mkdir(empty)
    await store.finish(await store.create(sampleRun(), empty))
    await expect(store.create(sampleRun(), '/dev/null')).rejects.toThrow('/dev/null is no folder')
    await expect(new RunStore('/dev/null').create(sampleRun())).rejects.toThrow('is no folder')
  })
})

it('nobody else on the machine can read a run', async () => {
  const own = new RunStore(join(folder, 'a', 'runs'))
  const writer = await own.create(sampleRun())
  await writer.samples(0, 0, { samplesNs: [1], samplesMHz: [] })
  await writer.step(sampleStep(0))
  await writer.file('profile.hatchet', '[]')
  const modes = async () =>
    Object.fromEntries(
      await Promise.all(
        (await readdir(writer.folder)).map(async (name) => {
          const { mode } = await stat(join(writer.folder, name))
          return [name, mode & 0o777] as const
        })
      )
    )
  const files = ['owner.json', 'profile.hatchet', 'run.json', 'samples.jsonl', 'steps.jsonl']
  expect(await modes()).toEqual(Object.fromEntries(files.map((name) => [name, 0o600])))
  for (const path of [own.folder, writer.folder])
    expect((await stat(path)).mode & 0o777).toBe(0o700)
  await own.finish(writer)
  expect(Object.values(await modes())).toEqual([0o600, 0o600, 0o600, 0o600])
})

describe('the list', () => {
  const read = () => vi.spyOn(store, 'read')

  it('reads summaries, and a run only when it has changed since', async () => {
    const { run, folder: path } = await store.create(sampleRun()).then(async (writer) => {
      await store.finish(writer)
      return writer
    })
    const reads = read()
    expect((await store.list())[0]).toMatchObject({ id: run.id, outcome: { passed: 1 } })
    expect(reads).not.toHaveBeenCalled()
    await store.annotate(run.id, { label: 'new' })
    reads.mockClear()
    expect((await store.list())[0]!.label).toBe('new')
    expect(reads).toHaveBeenCalledTimes(1)
    await store.list()
    expect(reads).toHaveBeenCalledTimes(1)
    // Of a run that was made before there were summaries, or whose summary is damaged.
    await writeFile(join(path, 'summary.json'), '{')
    expect((await store.list())[0]!.label).toBe('new')
    await rm(join(path, 'summary.json'))
    expect((await store.list())[0]!.label).toBe('new')
    expect(reads).toHaveBeenCalledTimes(3)
  })

  it('never shows a running run as it was: its steps come one by one', async () => {
    const writer = await store.create(sampleRun({ status: 'running', steps: [] }))
    expect((await store.list())[0]!.outcome.passed).toBe(0)
    await appendFile(join(writer.folder, 'steps.jsonl'), stringifyRun(sampleStep(0)) + '\n')
    expect((await store.list())[0]!.outcome.passed).toBe(1)
    await store.finish(writer)
  })

  it('has no run that is removed while it is made, not even as one that cannot be read', async () => {
    for (let run = 0; run < 20; run++) {
      const writer = await store.create(sampleRun())
      await store.finish(writer)
      // Without it the run is read, at its turn.
      await rm(join(writer.folder, 'summary.json'))
    }
    const ids = (await readdir(folder)).sort()
    const removing = async () => {
      for (const id of ids) await store.remove(id)
    }
    const [listed] = await Promise.all([store.list(), removing()])
    expect(listed.filter(({ problem }) => problem !== undefined)).toEqual([])
    expect(await store.list()).toEqual([])
    // Who reads what was listed finds it gone; a damaged one is still said to be.
    expect(await store.readListed(ids[0]!)).toBeUndefined()
    await put('damaged', '{')
    await expect(store.readListed('damaged')).rejects.toThrow(/damaged/)
  })

  it('is shown of a store that cannot be written', async () => {
    const { folder: path } = await store.create(sampleRun()).then(async (writer) => {
      await store.finish(writer)
      await rm(join(writer.folder, 'summary.json'))
      return writer
    })
    await chmod(path, 0o500)
    expect(await store.list()).toHaveLength(1)
    await chmod(path, 0o700)
  })
})

describe('an id as a person gives it', () => {
  it('may be cut short where one run is left, or be the latest', async () => {
    await expect(store.find('latest')).rejects.toThrow('There are no runs')
    for (const id of ['20261120-1-a', '20261120-2-b', '20261121-1-c'])
      await store.finish(await store.create(sampleRun({ id, createdAt: `${id}T` })))
    expect(await store.find('20261120-1-a')).toBe('20261120-1-a')
    expect(await store.find('20261121')).toBe('20261121-1-c')
    expect(await store.find('latest')).toBe('20261121-1-c')
    await expect(store.find('20261120')).rejects.toThrow(
      '2 runs begin with "20261120", such as 20261120-1-a, 20261120-2-b.'
    )
    await store.finish(await store.create(sampleRun({ id: '20261121-1-c' })))
    await store.remove('20261121-1-c')
    await expect(store.find('20261121-1-c')).rejects.toThrow('There is no run')
    for (const none of ['2025', '', '../', '.'])
      await expect(store.find(none)).rejects.toThrow('There is no run')
  })
})

describe('samples', () => {
  it('of a damaged line are refused, naming it', async () => {
    const writer = await store.create(sampleRun())
    await writer.samples(0, 0, { samplesNs: [1], samplesMHz: [] })
    await appendFile(join(writer.folder, 'samples.jsonl'), '{"step":0,"round":1,"samplesNs":"x"}\n')
    await expect(store.samples(writer.run.id, 0)).rejects.toThrow(
      /samples\.jsonl is damaged: line 2: samplesNs/
    )
  })
})

describe('where runs are kept', () => {
  afterEach(() => vi.unstubAllEnvs())
  it.runIf(process.platform === 'linux').each(['', 'relative/folder'])(
    'is the home folder when XDG_DATA_HOME is %j, which names no folder',
    (value) => {
      vi.stubEnv('BLOCKSCOPE_STORE', '')
      vi.stubEnv('XDG_DATA_HOME', value)
      vi.stubEnv('HOME', '/home/me')
      expect(defaultStoreFolder()).toBe('/home/me/.local/share/blockscope/runs')
    }
  )
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
