/** What the badges of a measurement mean (spec: method bs-3). */
const meanings: Record<string, string> = {
  noisy: 'The samples scatter more than the stop rule asks for.',
  unstable: 'The medians of the rounds differ by more than 2 %.',
  drifted: 'The first point of a round changed by more than 2 % until its end.',
  thermal: 'The device slowed down for its temperature.',
  'power-capped': 'The device was at its power limit; this is its normal sustained speed.',
  contended: 'Other processes used the device.',
  'timed out': 'The time for this point ran out before the stop rule was met.',
  grouped: 'Shorter than 200 µs: several launches were timed together.',
  'power-optimistic': 'Operands of zeros draw less power, and so allow higher clocks.'
}

export const badgeMeaning = (badge: string): string => meanings[badge] ?? badge

/** These say that the number itself is in doubt. */
export const isWarning = (badge: string): boolean =>
  ['noisy', 'unstable', 'drifted', 'thermal', 'contended', 'timed out'].includes(badge)
