import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Run, Step } from '@shared/contract/run'
import { appendLines, writeFileAtomic } from '../ground/files'
import type { Claim } from './ownership'
import { journalName, placeStep, runFileName, samplesName, stringifyRun } from './runFile'

export interface Round {
  samplesNs: ArrayLike<number>
  samplesMHz: ArrayLike<number>
}

/**
 * Writes one run as it grows. Each finished step is on disk before the next begins: as a line of the journal at once,
 * and in run.json, which is written whole and so not more often than its size allows.
 */
export class RunWriter {
  private nextFullWrite = 0

  constructor(
    readonly folder: string,
    readonly run: Run,
    readonly claim: Claim
  ) {}

  /** Records a step's result, new or changed. */
  async step(step: Step): Promise<void> {
    placeStep(this.run.steps, step)
    await appendLines(join(this.folder, journalName), stringifyRun(step) + '\n')
    if (performance.now() >= this.nextFullWrite) await this.save()
  }

  /** One round of a step: raw samples, nanoseconds per operation, and what else was measured, for a resumed run. */
  async samples(step: number, round: number, measured: Round): Promise<void> {
    const { samplesNs, samplesMHz, ...rest } = measured
    const line = {
      step,
      round,
      samplesNs: Array.from(samplesNs, (x) => Math.round(x * 10) / 10),
      samplesMHz: Array.from(samplesMHz, (x) => Math.round(x)),
      ...rest
    }
    await appendLines(join(this.folder, samplesName), stringifyRun(line) + '\n')
  }

  async event(message: string): Promise<void> {
    this.run.events.push({ at: new Date().toISOString(), message })
    await this.save()
  }

  /** Writes run.json whole. */
  async save(): Promise<void> {
    const start = performance.now()
    await writeFileAtomic(join(this.folder, runFileName), stringifyRun(this.run, 1) + '\n')
    // At most a twentieth of the time goes into rewriting a run that has grown large.
    this.nextFullWrite = performance.now() + 20 * (performance.now() - start)
  }

  /** Another file of the run: profile.hatchet, trace.json. */
  async file(name: string, data: string | Uint8Array): Promise<void> {
    await writeFileAtomic(join(this.folder, name), data)
  }

  /** The run is over: run.json holds everything and the journal goes. */
  async finish(): Promise<void> {
    await this.save()
    await rm(join(this.folder, journalName), { force: true })
  }
}
