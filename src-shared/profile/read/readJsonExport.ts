/** The flat JSON that convert writes: nodes in preorder with their own values; sums are taken again. */
import { UserError } from '../../errors'
import type { ProfileDevice, ProfileTree } from '../tree/profileTree'
import { exportedRows } from './exportedRows'
import { isObject, listOf, numberOr, parseJson, property, stringOr } from './jsonValue'

export function readJsonExport(bytes: Uint8Array, fileName: string): ProfileTree {
  const file = parseJson(bytes, fileName)
  const rows = exportedRows(fileName)
  listOf(property(file, 'nodes')).forEach((value, at) => {
    const parent = property(value, 'parent')
    const name = property(value, 'name')
    const own = property(value, 'own')
    if (typeof name !== 'string' || !isObject(own))
      throw new UserError('usage', `${fileName}: node ${at} has no "name" or no "own" values.`)
    rows.open(parent === null ? -1 : numberOr(parent, NaN), name)
    for (const [metric, cell] of Object.entries(own)) {
      if (typeof cell === 'number') rows.number(metric, cell)
      else if (typeof cell === 'string') rows.text(metric, cell)
    }
  })
  return rows.finish('json', listOf(property(file, 'devices')).filter(isObject).map(deviceOf))
}

function deviceOf(value: Record<string, unknown>): ProfileDevice {
  return {
    type: stringOr(property(value, 'type'), ''),
    id: stringOr(property(value, 'id'), '0'),
    arch: stringOr(property(value, 'arch'), ''),
    busWidthBits: numberOr(property(value, 'busWidthBits'), 0),
    clockRateKHz: numberOr(property(value, 'clockRateKHz'), 0),
    memoryClockRateKHz: numberOr(property(value, 'memoryClockRateKHz'), 0),
    multiprocessors: numberOr(property(value, 'multiprocessors'), 0)
  }
}
