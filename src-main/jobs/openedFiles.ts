/** Files handed to the app from outside; pages see a handle and a name, never a path. */
import { randomUUID } from 'node:crypto'
import { open } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'
import type { Output } from '@shared/contract/methods'
import { UserError } from '@shared/errors'
import { readError } from '../ground/named'
import { captureFolderOf, noShards, refuseFolder, shardFiles } from '../capture/captureFolder'

/** Of a file at a time: well below what a message may hold. */
export const pieceBytes = 8 << 20

export class OpenedFiles {
  private readonly paths = new Map<string, string>()
  private readonly unannounced = new Set<string>()
  private readonly listeners = new Set<() => void>()

  add(path: string): void {
    this.unannounced.add(this.handleOf(path))
    for (const listener of this.listeners) listener()
  }

  async watch(
    signal: AbortSignal,
    announce: (file: { handle: string; name: string }) => void
  ): Promise<void> {
    const flush = () => {
      for (const handle of this.unannounced) {
        this.unannounced.delete(handle)
        announce({ handle, name: basename(this.paths.get(handle)!) })
      }
    }
    flush()
    this.listeners.add(flush)
    await new Promise<void>((settle) =>
      signal.addEventListener('abort', () => settle(), { once: true })
    )
    this.listeners.delete(flush)
  }

  /** A piece of a file from a place on; of a capture's folder, or its capture.json, the handles of its shards. */
  async read(handle: string, at = 0): Promise<Output<'files.read'>> {
    const path = this.paths.get(handle)
    if (!path) throw new UserError('usage', 'This file is no longer open; open it again.')
    const capture = captureFolderOf(path)
    if (capture !== undefined) return this.readCapture(capture)
    refuseFolder(path)
    try {
      const file = await open(path)
      try {
        const { size } = await file.stat()
        const piece = new Uint8Array(Math.max(0, Math.min(pieceBytes, size - at)))
        const { bytesRead } = await file.read(piece, 0, piece.length, at)
        return { name: basename(path), bytes: piece.subarray(0, bytesRead), size }
      } finally {
        await file.close()
      }
    } catch (error) {
      throw readError(path, error)
    }
  }

  private readCapture(folder: string): Output<'files.read'> {
    const shards = this.shardsOf(folder)
    return { name: basename(resolve(folder)), bytes: new Uint8Array(0), size: 0, shards }
  }

  /** Handles of the shards of a capture. */
  shardsOf(folder: string): string[] {
    const files = shardFiles(folder)
    if (files.length === 0) throw new UserError('usage', noShards(folder))
    return files.map((file) => this.handleOf(file))
  }

  private handleOf(path: string): string {
    const handle = randomUUID() + extname(path)
    this.paths.set(handle, path)
    return handle
  }
}
