/** Damage of the kinds that files suffer: bytes changed, cut, repeated, and structure that nests or repeats too much. */

/** A linear congruential generator (Numerical Recipes): integers below a bound. */
export function randomSource(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const fragments = [
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  ',',
  ':',
  '"\\u0000"',
  '\\ud800',
  'null',
  'NaN',
  '1e999',
  '-',
  '0.',
  '18446744073709551616',
  '"__proto__":',
  '"constructor":',
  '"children":[',
  '"metrics":{',
  '"frame":{"name":"',
  '"time (ns)":',
  '"traceEvents":[',
  '\u00ff'
]

export function mutate(input: Uint8Array, random: (below: number) => number): Uint8Array {
  let bytes = new Uint8Array(input)
  for (let rounds = 1 + random(2); rounds > 0; rounds--) bytes = mutateOnce(bytes, random)
  return bytes
}

function mutateOnce(
  bytes: Uint8Array<ArrayBuffer>,
  random: (below: number) => number
): Uint8Array<ArrayBuffer> {
  const at = random(bytes.length + 1)
  switch (random(8)) {
    case 0:
      if (at < bytes.length) bytes[at] = random(256)
      return bytes
    case 1:
      if (at < bytes.length) bytes[at]! ^= 1 << random(8)
      return bytes
    case 2:
      return bytes.slice(0, at)
    case 3:
      return joined(bytes.slice(0, at), bytes.slice(Math.min(bytes.length, at + 1 + random(64))))
    case 4: {
      const length = random(200)
      return joined(bytes.slice(0, at), bytes.slice(at, at + length), bytes.slice(at))
    }
    case 5: {
      const fragment = new TextEncoder().encode(fragments[random(fragments.length)])
      return joined(bytes.slice(0, at), fragment, bytes.slice(at))
    }
    case 6: {
      const nested = new TextEncoder().encode(
        ['[', '{"a":', '{"children":['][random(3)]!.repeat(1 + random(3000))
      )
      return joined(bytes.slice(0, at), nested, bytes.slice(at))
    }
    default: {
      const other = random(bytes.length + 1)
      const [from, to] = at < other ? [at, other] : [other, at]
      return joined(bytes.slice(0, from), bytes.slice(from, to).reverse(), bytes.slice(to))
    }
  }
}

function joined(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}
