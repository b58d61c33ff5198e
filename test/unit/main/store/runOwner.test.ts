/** Whose a run is: one whose writer is gone is interrupted, one of another process is told to end. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { RunStore } from '../../../../src-main/store/runStore'
import { sampleRun } from '../../../support/sampleRun'
import { storeForEach } from '../../../support/storeForEach'

let folder: string
let store: RunStore

storeForEach((...given) => ([store, folder] = given))

describe('a run whose writer ended without a word', () => {
  /** As a killed program leaves it. */
  const left = async (owner: object | string) => {
    const writer = await store.create(sampleRun({ status: 'running' }))
    const path = join(writer.folder, 'owner.json')
    const real = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>
    await writer.claim.release()
    await writeFile(path, typeof owner === 'string' ? owner : JSON.stringify({ ...real, ...owner }))
    return { id: writer.run.id, path }
  }
  const silentFor = (path: string, minutes: number) => {
    const then = new Date(Date.now() - minutes * 60_000)
    return utimes(path, then, then)
  }
  const gone = () =>
    new Promise<number>((resolve) => {
      const child = spawn(process.execPath, ['-e', ''])
      child.on('close', () => resolve(child.pid!))
    })

  it('is interrupted at once, under another host name too', async () => {
    const { id } = await left({ pid: await gone(), host: 'another-container' })
    expect((await store.read(id)).status).toBe('interrupted')
    await store.remove(id)
  })
  it.runIf(process.platform === 'linux')(
    'is interrupted when another process has its number',
    async () => {
      const { id } = await left({ pid: process.pid, started: '1' })
      expect((await store.read(id)).status).toBe('interrupted')
    }
  )
  it('on a machine that is not this one, is interrupted after a minute of silence', async () => {
    const { id, path } = await left({ machine: 'another start', pid: 1 })
    expect((await store.read(id)).status).toBe('running')
    await expect(store.remove(id)).rejects.toThrow('is being written by process 1')
    await silentFor(path, 2)
    expect((await store.read(id)).status).toBe('interrupted')
  })
  it.each(['', '{"pid"', '{"pid":"x"}', '[]'])(
    'is interrupted with a damaged owner.json too: %j',
    async (text) => {
      const { id, path } = await left(text)
      expect((await store.read(id)).status).toBe('running')
      await silentFor(path, 2)
      expect((await store.read(id)).status).toBe('interrupted')
      await store.remove(id)
    }
  )
  it('is written as interrupted when it is cancelled', async () => {
    const { id, path } = await left({ pid: await gone() })
    expect(await store.cancel(id)).toBe('ended')
    expect(existsSync(path)).toBe(false)
    const text = await readFile(join(folder, id, 'run.json'), 'utf8')
    expect((JSON.parse(text) as { status: string }).status).toBe('interrupted')
    await expect(store.cancel(id)).rejects.toThrow('is not running: it is interrupted')
  })
})

it('a run of another process is told to end', async () => {
  const writer = await store.create(sampleRun({ status: 'running' }))
  const told = new Promise((resolve) => writer.claim.cancelled.addEventListener('abort', resolve))
  // Another store, as another process has it.
  expect(await new RunStore(folder).cancel(writer.run.id)).toBe('asked')
  await told
  writer.run.status = 'cancelled'
  await store.finish(writer)
  expect(await readdir(writer.folder)).toEqual(['run.json', 'summary.json'])
  await expect(store.cancel(writer.run.id)).rejects.toThrow('is not running: it is cancelled')
})
