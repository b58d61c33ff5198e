/** What carries frames between two sides, in order and each at most once: a MessagePort, a WebSocket, or nothing. */
export interface Wire {
  /** Throws FrameRefused when the wire cannot carry this frame; the wire stays usable. Ignored once closed. */
  send(frame: unknown): void
  onFrame(listener: (frame: unknown) => void): void
  /** Called once, whichever side closed it; `reason` is a sentence for a person. */
  onClose(listener: (reason: string) => void): void
  close(reason: string): void
  /** True while the other side takes frames slower than they are sent. */
  isCongested(): boolean
}

/** A frame that this wire cannot carry: too large, or not cloneable. */
export class FrameRefused extends Error {
  override readonly name = 'FrameRefused'
}
