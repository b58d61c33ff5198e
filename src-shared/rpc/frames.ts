/**
 * The frames of the protocol. A caller sends `req` and may send `cancel`; it gets any number of `prog`, then one `ok` or
 * one `err`. Both sides send `hello` first.
 */
import * as v from 'valibot'
import { version } from '../../package.json'

export const protocolVersion = 1

/** WebSocket subprotocol; the token travels as a second one, 'token.<token>'. */
export const subprotocol = `blockscope.v${protocolVersion}`

/** Longest message either side of a WebSocket accepts. */
export const maxMessageBytes = 64 * 1024 * 1024

const id = v.pipe(v.number(), v.safeInteger(), v.minValue(1))

export const errorCodeSchema = v.picklist([
  'invalid-input',
  'unknown-method',
  'not-found',
  'cancelled',
  'disconnected',
  'not-supported',
  'unavailable',
  'failed',
  'internal'
])

export const helloSchema = v.object({
  type: v.literal('hello'),
  protocol: v.number(),
  appVersion: v.string()
})
export type Hello = v.InferOutput<typeof helloSchema>

export const requestFrameSchema = v.variant('type', [
  helloSchema,
  v.object({ type: v.literal('req'), id, method: v.string(), input: v.unknown() }),
  v.object({ type: v.literal('cancel'), id })
])
export type RequestFrame = v.InferOutput<typeof requestFrameSchema>

export const responseFrameSchema = v.variant('type', [
  helloSchema,
  v.object({ type: v.literal('prog'), id, value: v.unknown() }),
  v.object({ type: v.literal('ok'), id, value: v.unknown() }),
  v.object({ type: v.literal('err'), id, code: errorCodeSchema, message: v.string() })
])
export type ResponseFrame = v.InferOutput<typeof responseFrameSchema>

export const hello: Hello = { type: 'hello', protocol: protocolVersion, appVersion: version }
