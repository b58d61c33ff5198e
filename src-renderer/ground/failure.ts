/** What went wrong, for a person: a sentence, and details for "Copy details". */
import { RpcError } from '@shared/contract/methods'
import { messageOf } from '@shared/errors'

export interface Failure {
  /** 'validate.start', 'runs.export': what was being done. */
  doing: string
  message: string
  details: string
}

export function failureOf(doing: string, thrown: unknown): Failure {
  const code = thrown instanceof RpcError ? thrown.code : undefined
  const stack = thrown instanceof Error && !(thrown instanceof RpcError) ? thrown.stack : undefined
  const details = [
    `doing: ${doing}`,
    code && `code: ${code}`,
    `message: ${messageOf(thrown)}`,
    stack,
    `time: ${new Date().toISOString()}`,
    `page: ${globalThis.location?.hash ?? ''}`,
    `browser: ${globalThis.navigator?.userAgent ?? ''}`
  ]
  return { doing, message: messageOf(thrown), details: details.filter(Boolean).join('\n') }
}

export function isCode(thrown: unknown, code: RpcError['code']): boolean {
  return thrown instanceof RpcError && thrown.code === code
}
