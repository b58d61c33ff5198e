const msOf: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

export const timeLengthNeeded = 'A time is needed: 500ms, 10s, 2m or 1h.'

/** '500ms', '2.5s', '10m', or seconds: in milliseconds; undefined for anything else. */
export function parseTimeLength(text: string): number | undefined {
  const [, value, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim()) ?? []
  return value === undefined ? undefined : Number(value) * msOf[unit]!
}
