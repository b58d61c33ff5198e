/** What a damaged profile must survive: it opens, or it is refused with a sentence; everything else is a finding. */
import { UserError } from '@shared/errors'
import { ask } from '@shared/profile/ask/ask'
import { demangle } from '@shared/profile/ask/demangle'
import { availableMetrics, deriveMetric } from '@shared/profile/ask/deriveMetric'
import { filterTree } from '@shared/profile/ask/filterTree'
import { openProfile, type OpenedProfile } from '@shared/profile/read/openProfile'
import { printTree } from '@shared/profile/write/printTree'
import { nodeName } from '@shared/profile/tree/profileTree'
import { writeHatchet } from '@shared/profile/write/writeHatchet'

export type Outcome = 'opened' | 'refused'

/** Takes one input through everything that reads profiles. Throws on a finding. */
export function tryProfile(bytes: Uint8Array): Outcome {
  try {
    const { tree } = openNamed(bytes)
    for (const request of availableMetrics(tree).slice(0, 12)) deriveMetric(tree, request).reason(0)
    for (let node = 0; node < Math.min(50, tree.count); node++) demangle(nodeName(tree, node))
    filterTree(tree, { include: 'k' })
    const first = tree.numbers[0]
    const metrics = first ? [first.name] : []
    printTree(ask(tree, { metrics, depth: 20 }))
    printTree(ask(tree, { metrics, arrangement: 'flat' }))
    if (first) printTree(ask(tree, { metrics, depth: 20 }, [tree]))
    openProfile(new TextEncoder().encode(writeHatchet(tree)), 'rewritten')
    return 'opened'
  } catch (error) {
    if (error instanceof UserError) return 'refused'
    throw error
  } finally {
    checkPrototypes()
  }
}

/** Every refusal is one that says which reader it was, or that there is none. */
function openNamed(bytes: Uint8Array): OpenedProfile {
  try {
    return openProfile(bytes, 'mutated')
  } catch (error) {
    const known = /It was read as .+\.$|is not a profile that is read here|gzip data|is empty/s
    if (error instanceof UserError && !known.test(error.message))
      throw new Error('A refusal does not name its reader', { cause: error })
    throw error
  }
}

const prototypes = [Object.prototype, Array.prototype, Map.prototype]
const keysBefore = prototypes.map((prototype) => Reflect.ownKeys(prototype).length)

function checkPrototypes(): void {
  prototypes.forEach((prototype, index) => {
    if (Reflect.ownKeys(prototype).length === keysBefore[index]) return
    throw new Error('A profile changed a prototype')
  })
}
