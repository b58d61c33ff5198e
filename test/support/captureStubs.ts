/** Programs on a stand-in of driver and CUPTI, captured by the real library. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { CaptureReader, type CaptureSink } from '@shared/capture/captureReader'
import { controlStates, newControl } from '@shared/capture/shardForm'
import type { ShardNames } from '@shared/capture/shardNames'

export const injected = resolve('native/build/Release/blockscope_inject.node')
/** Of native/test/inject, which the tests' set-up compiles. */
const built = resolve('native/test/build/inject')
export const stubProgram = join(built, 'program')
/** A folder that BLOCKSCOPE_CUDA_PATH can name. */
export const stubCupti = join(built, 'cupti')
/** In place of the driver where there is HIP: a program finds it by LD_LIBRARY_PATH. */
export const stubHip = join(built, 'hip', 'libcuda.so.1')
/** A file that a program loads in place of the driver. */
export const stubDriver = join(built, 'driver', 'libcuda.so.1')

export function newCaptureFolder(state: number = controlStates.recording): string {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-capture-'))
  writeFileSync(join(folder, 'control'), newControl(state))
  return folder
}

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** Starts a program as `blockscope capture` does, but without that. */
export function startCaptured(
  folder: string,
  command: readonly string[],
  environment: NodeJS.ProcessEnv = {}
) {
  const child = spawn(command[0]!, command.slice(1), {
    env: {
      ...process.env,
      BLOCKSCOPE_CAPTURE_FOLDER: folder,
      BLOCKSCOPE_CUDA_PATH: stubCupti,
      CUDA_INJECTION64_PATH: injected,
      NVTX_INJECTION64_PATH: injected,
      LD_PRELOAD: injected,
      ...environment
    },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (part: Buffer) => (output.stdout += part.toString()))
  child.stderr.on('data', (part: Buffer) => (output.stderr += part.toString()))
  const done = new Promise<Ended>((end) =>
    child.on('close', (code, signal) => end({ code, signal, ...output }))
  )
  return { child, done }
}

export function shardFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.shard'))
    .sort()
    .map((name) => join(folder, name))
}

/** All shards of a folder through a sink. */
export function readShards(folder: string, sink: CaptureSink = {}) {
  const reader = new CaptureReader(sink)
  const names: ShardNames[] = []
  for (const file of shardFiles(folder)) {
    reader.open(file)
    reader.write(readFileSync(file))
    names.push(reader.close())
  }
  return { reader, names, accounts: reader.accounts }
}
