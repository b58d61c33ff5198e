/** What kind of trouble a person is told about; each kind has one exit code on the command line. */
export type UserErrorKind =
  /** A wrong flag, shape, name or file: the person can mend it. Exit code 2. */
  | 'usage'
  /** Something was checked and found wrong. Exit code 1. */
  | 'failed'
  /** The device, driver or library asked for is not there. Exit code 3. */
  | 'unavailable'

export const exitCodeOf: Record<UserErrorKind, number> = { usage: 2, failed: 1, unavailable: 3 }

/** An error whose message is one sentence for a person: what, where, what to do. Never shown with a stack. */
export class UserError extends Error {
  override readonly name = 'UserError'

  constructor(
    readonly kind: UserErrorKind,
    message: string,
    options?: ErrorOptions
  ) {
    super(message, options)
  }
}

/** The text of anything thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
