import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { viewFor } from '../../../../src-renderer/ground/droppedFiles'
import { captureOf } from '../../../../src-renderer/stores/pickProfiles'
import { nvbenchGemm } from '../../../support/nvbenchGemm'

it('a gzipped run is told by what it holds', async () => {
  const packed = (value: object, name = 'run.json.gz') => ({
    files: [new File([gzipSync(JSON.stringify(value))], name)],
    inFolders: []
  })
  expect(await viewFor(packed({ formatVersion: 1, notes: 'x'.repeat(200_000) }), 'validate')).toBe(
    'runs'
  )
  expect(await viewFor(packed({ traceEvents: [] }, 'trace.json.gz'), 'runs')).toBe('profile')
  const torn = { files: [new File(['no gzip'], 'run.json.gz')], inFolders: [] }
  expect(await viewFor(torn, 'runs')).toBe('profile')
})

it("nvbench's JSON is a run where runs are, a profile elsewhere; a run is one everywhere", async () => {
  const dropped = (value: unknown) => ({
    files: [new File([JSON.stringify(value)], 'x.json')],
    inFolders: []
  })
  const nvbench = dropped(nvbenchGemm([{ tile: 't', k: 256, mean: 1e-5 }]))
  expect(await viewFor(nvbench, 'runs')).toBe('runs')
  expect(await viewFor(nvbench, 'profile')).toBe('profile')
  expect(await viewFor(dropped({ traceEvents: [] }), 'runs')).toBe('profile')
  expect(await viewFor(dropped({ formatVersion: 1 }), 'validate')).toBe('runs')
})

describe('the folder of a capture', () => {
  const at = (path: string) => ({ path, file: new File(['x'], path.split('/').at(-1)!) })
  const capture = ['capture.json', 'control', '9-1.shard', '12-1.shard', 'profile.hatchet']

  it('is a profile: its shards, in order, under its name', async () => {
    const inFolders = capture.map((name) => at(`runs/step/${name}`))
    expect(await viewFor({ files: [], inFolders }, 'devices')).toBe('profile')
    const opened = captureOf(inFolders)
    expect(opened.capture).toBe('step')
    expect(opened.files.map(({ name }) => name)).toEqual([
      'runs/step/12-1.shard',
      'runs/step/9-1.shard'
    ])
  })

  it('is told from the folder of a run, and its record from that of a run', async () => {
    const run = ['run.json', 'samples.jsonl', 'profile.hatchet'].map((name) => at(`r/${name}`))
    expect(await viewFor({ files: [], inFolders: run }, 'profile')).toBe('runs')
    const record = JSON.stringify({ formatVersion: 1, kind: 'capture' }, null, 2)
    const files = [new File([record], 'capture.json')]
    expect(await viewFor({ files, inFolders: [] }, 'runs')).toBe('profile')
  })

  it('is refused where it holds no shard, or several captures', () => {
    expect(() => captureOf([at('step/capture.json')])).toThrow('step holds no shard of a capture.')
    expect(() => captureOf([at('a/1.shard'), at('b/1.shard')])).toThrow(
      'These are 2 captures: a, b; open one.'
    )
  })
})
