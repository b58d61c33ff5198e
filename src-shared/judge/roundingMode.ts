/** How the last bit of C was made: IEEE 754-2019, section 4.3, and what is none of its modes. */
import type { Rounding } from '../layouts/detectRounding'
import { enough, type Compared, type ResultToJudge } from './sampledProduct'

const modes = {
  nearest: (scaled: number) => {
    const below = Math.floor(scaled)
    const rest = scaled - below
    return rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below
  },
  'toward zero': Math.trunc,
  down: Math.floor,
  up: Math.ceil,
  'away from zero': (scaled: number) => Math.sign(scaled) * Math.ceil(Math.abs(scaled))
}
export type RoundingMode = keyof typeof modes | 'to either neighbour'

/** Undefined where no mode explains the sample, or C keeps more bits than sums in float32 have. */
export function roundingModeOf(
  compared: readonly Compared[],
  { rounding }: ResultToJudge
): { mode: RoundingMode; agrees: number } | undefined {
  if (rounding.bits > 11) return undefined
  // At its end a type of 8 bits holds whatever is larger.
  const end = rounding.bits < 8 ? rounding.largest : Infinity
  const usable = compared.filter(
    ({ exact, found }) => exact !== 0 && Number.isFinite(exact) && Math.abs(found) < end
  )
  if (usable.length < 64) return undefined
  const shareOf = (explains: (element: Compared) => boolean) =>
    usable.filter(explains).length / usable.length
  const shares = Object.entries(modes).map(([name, round]) => ({
    name: name as keyof typeof modes,
    share: shareOf((element) => isRoundedBy(round, element, rounding))
  }))
  const best = shares.reduce((most, mode) => (mode.share > most.share ? mode : most))
  if (best.share >= enough) return { mode: best.name, agrees: best.share }
  const isNeighbour = ({ found, exact }: Compared) =>
    Math.abs(found - exact) < unitAt(exact, rounding)
  const agrees = shareOf(isNeighbour)
  return agrees >= enough ? { mode: 'to either neighbour', agrees } : undefined
}

/** `exact` may be off by what sums in float32 stray; both ends of that may round to what was found. */
function isRoundedBy(
  round: (scaled: number) => number,
  { found, exact, magnitude }: Compared,
  rounding: Rounding
): boolean {
  const unit = unitAt(exact, rounding)
  const stray = magnitude * 2 ** -23
  return [exact, exact - stray, exact + stray].some((value) => round(value / unit) * unit === found)
}

/** One unit in the last place of a number of the type; subnormals have that of its smallest normal. */
function unitAt(value: number, { bits, smallestNormal }: Rounding): number {
  return 2 ** (Math.max(Math.floor(Math.log2(Math.abs(value))), smallestNormal) - bits + 1)
}
