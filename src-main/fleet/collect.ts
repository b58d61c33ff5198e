/** One run of what the tasks of a fleet measured, for each kind of device and model. */
import type { Run } from '@shared/contract/run'
import { UserError } from '@shared/errors'
import { groupedBy } from '@shared/groupedBy'
import { alikeKey, mergeRuns, type Shard } from '@shared/measurement/mergeRuns'
import { shapeOf } from '@shared/measurement/runName'
import { derivedFiles } from '../store/derivedFiles'
import { makeRunId, type RunStore } from '../store/runStore'
import type { FleetFolder, TaskStatus } from './fleetFolder'

export interface Collected {
  run: string
  device: string
  /** What was timed: the shapes, 'deepseek-v3, 1–16 tokens'. */
  shape: string
  shards: number
  /** It was collected before, of the same runs. */
  isKnown: boolean
}

/** Throws a UserError where tasks are not done and `partial` is not said, or none is. */
export async function collect(
  folder: FleetFolder,
  statuses: readonly TaskStatus[],
  store: RunStore,
  { partial }: { partial: boolean }
): Promise<Collected[]> {
  const done = statuses.filter(({ state }) => state === 'done')
  const left = statuses.length - done.length
  if (left > 0 && !partial)
    throw new UserError(
      'failed',
      `${left} of ${statuses.length} tasks are not done; "fleet resubmit" does them, --partial collects without them.`
    )
  if (done.length === 0)
    throw new UserError('failed', 'No task is done: there is nothing to collect.')
  const shards: Shard[] = []
  for (const { task, run } of done) shards.push(await shardOf(folder, task, run!.id))
  const alike = groupedBy(shards, ({ run }) => alikeKey(run))
  const collected: Collected[] = []
  for (const own of alike.values())
    collected.push({
      device: own[0]!.run.device?.name ?? 'no device',
      shards: own.length,
      ...(await keep(folder, own, store))
    })
  return collected
}

async function keep(
  folder: FleetFolder,
  shards: readonly Shard[],
  store: RunStore
): Promise<Pick<Collected, 'run' | 'shape' | 'isKnown'>> {
  const ids = shards.map(({ run }) => run.id)
  const formats = [...new Set(shards.flatMap(({ run }) => run.spec.formats))]
  const { name } = folder.plan
  const now = new Date()
  const merged = mergeRuns(shards, {
    id: makeRunId('sweep', formats, now),
    createdAt: now.toISOString(),
    label: name,
    notes: `Collected from ${shards.length} tasks of the fleet "${name}".`
  })
  const shape = shapeOf(merged)
  const known = (await folder.collected()).find((one) => one.shards.join() === ids.join())
  if (known) return { run: known.run, shape, isKnown: true }
  const writer = await store.create(merged)
  for (const [file, text] of Object.entries(derivedFiles(merged))) await writer.file(file, text)
  await store.finish(writer)
  await folder.keepCollected(merged.id, ids)
  return { run: merged.id, shape, isKnown: false }
}

/** The id of a shard says its task too: ids of different stores may be equal. */
async function shardOf(folder: FleetFolder, task: number, id: string): Promise<Shard> {
  const store = folder.storeOf(task)
  const run: Run = await store.read(id)
  const rounds = await store.rounds(id)
  return {
    run: { ...run, id: `${task}/${run.id}` },
    samples: (step) => {
      const own = rounds.filter((round) => round.step === step)
      return {
        samplesNs: own.flatMap(({ samplesNs }) => samplesNs),
        samplesMHz: own.flatMap(({ samplesMHz }) => samplesMHz)
      }
    }
  }
}
