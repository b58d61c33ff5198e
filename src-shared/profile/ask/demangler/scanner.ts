/** Where a parser stands in a mangled name. */

/** The text is not a mangled name, or one of a kind that is not read: it stays as it is. */
export class NotMangled extends Error {}

const deepest = 256

export class Scanner {
  at = 0
  private depth = 0

  constructor(readonly text: string) {}

  peek(ahead = 0): string {
    return this.text[this.at + ahead] ?? ''
  }

  next(length: number): string {
    return this.text.slice(this.at, this.at + length)
  }

  eat(token: string): boolean {
    if (!this.text.startsWith(token, this.at)) return false
    this.at += token.length
    return true
  }

  expect(token: string): void {
    if (!this.eat(token)) throw new NotMangled()
  }

  digits(): string {
    const start = this.at
    while (this.isDigit()) this.at++
    return this.text.slice(start, this.at)
  }

  isDigit(ahead = 0): boolean {
    const character = this.peek(ahead)
    return character >= '0' && character <= '9'
  }

  /** <number> [n] <digits> */
  number(): string {
    const sign = this.eat('n') ? '-' : ''
    const digits = this.digits()
    if (digits === '') throw new NotMangled()
    return sign + digits
  }

  /** '_' is 0, '0_' is 1: <seq-id> less its base, parameters, lambdas. */
  ordinal(): number {
    const digits = this.digits()
    this.expect('_')
    return digits === '' ? 0 : Number(digits) + 1
  }

  /** Everything up to `end`, each read by `read`. */
  until<T>(end: string, read: () => T): T[] {
    const list: T[] = []
    while (!this.eat(end)) {
      if (this.at >= this.text.length) throw new NotMangled()
      list.push(read())
    }
    return list
  }

  nested<T>(read: () => T): T {
    if (++this.depth > deepest) throw new NotMangled()
    try {
      return read()
    } finally {
      this.depth--
    }
  }
}
