/**
 * A wire over a WebSocket, of a browser or of `ws`. Frames are MessagePack with the structured-clone extensions, so that a
 * Float64Array arrives as one, and NaN and undefined as themselves.
 */
import { Packr } from 'msgpackr/pack'
import { messageOf } from '../errors'
import { maxMessageBytes } from './frames'
import { FrameRefused } from './wire'
import type { Wire } from './wire'

/** The part of WebSocket that browsers and `ws` have in common. */
export interface SocketLike {
  binaryType: string
  readonly readyState: number
  readonly bufferedAmount: number
  send(data: Uint8Array<ArrayBuffer>): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: { code: number; reason: string }) => void): void
  addEventListener(type: 'error', listener: () => void): void
}

/** Above this many unsent bytes progress waits. */
const congestedBytes = 1024 * 1024
/** Above this many unsent bytes the other side has stopped reading: the connection is given up. */
const stalledBytes = 4 * maxMessageBytes

const open = 1
/** Close codes of RFC 6455 section 7.4.1. */
const normalClosure = 1000
const abnormalClosure = 1006

// Without records msgpackr never builds readers with `new Function`, which the page's security policy forbids.
const packr = new Packr({
  structuredClone: true,
  moreTypes: true,
  useRecords: false,
  mapsAsObjects: true
})

const megabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(0)

function encode(frame: unknown): Uint8Array<ArrayBuffer> {
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = packr.pack(frame) as Uint8Array<ArrayBuffer>
  } catch (error) {
    throw new FrameRefused(`A value cannot be sent: ${messageOf(error)}`)
  }
  if (bytes.byteLength <= maxMessageBytes) return bytes
  throw new FrameRefused(
    `A message of ${megabytes(bytes.byteLength)} MB is more than the ${megabytes(maxMessageBytes)} MB ` +
      'that one message may have.'
  )
}

/** `socket` must be open. */
export function socketWire(socket: SocketLike): Wire {
  const closeListeners: ((reason: string) => void)[] = []
  let closed = false
  socket.binaryType = 'arraybuffer'

  function ended(reason: string): void {
    if (closed) return
    closed = true
    for (const listener of closeListeners) listener(reason)
  }
  function close(reason: string): void {
    // A close frame's reason holds 123 bytes at most (RFC 6455 section 5.5).
    socket.close(
      normalClosure,
      new TextDecoder().decode(new TextEncoder().encode(reason).slice(0, 120))
    )
    ended(reason)
  }
  // The close event follows, and says more.
  socket.addEventListener('error', () => {})
  socket.addEventListener('close', ({ code, reason }) =>
    ended(
      reason ||
        (code === abnormalClosure
          ? 'The connection was lost.'
          : 'The other side closed the connection.')
    )
  )

  return {
    send(frame) {
      if (closed || socket.readyState !== open) return
      const bytes = encode(frame)
      if (socket.bufferedAmount + bytes.byteLength > stalledBytes)
        close('The other side stopped reading.')
      else socket.send(bytes)
    },
    onFrame(listener) {
      socket.addEventListener('message', ({ data }) => {
        if (closed) return
        if (!(data instanceof ArrayBuffer)) {
          close('A text message arrived where frames are binary.')
          return
        }
        let frame: unknown
        try {
          frame = packr.unpack(new Uint8Array(data))
        } catch (error) {
          close(`What arrived is not MessagePack: ${messageOf(error)}`)
          return
        }
        listener(frame)
      })
    },
    onClose: (listener) => void closeListeners.push(listener),
    close,
    isCongested: () => socket.bufferedAmount > congestedBytes
  }
}
