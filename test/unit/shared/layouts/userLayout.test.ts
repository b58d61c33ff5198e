import { expect, it } from 'vitest'
import { packedMap } from '@shared/layouts/layout'
import { findLayout, layouts } from '@shared/layouts/registry'
import { parseUserLayout, userLayoutJson } from '@shared/layouts/userLayout'

const good = {
  name: 'mine',
  rows: 'tile:0 group:4 row:32',
  columns: 'columnTile:0 column:4',
  order: 'tile columnTile row group column',
  views: { '4D': 'tile, columnTile, row, group column' }
}
const parse = (change: object) => parseUserLayout(JSON.stringify({ ...good, ...change }), 'l.json')

it('a layout from a file is the one in the registry when the digits are', () => {
  const shape = { rows: 200, columns: 9 }
  const map = packedMap(parse({}), shape)
  expect(map).toEqual(packedMap(findLayout('nvidia_32_4_4'), shape))
})

it.each([
  [{ rows: 'tile:0 group' }, 'rows: "group" is not written as name:extent'],
  [{ rows: 'tile:2 row:32' }, 'rows: one digit must have extent 0 (the rest)'],
  [{ rows: 'tile:0 row:0' }, '"tile" and "row" both have extent 0; one digit takes the rest'],
  [{ columns: 'tile:0 column:4' }, 'the digit "tile" appears twice'],
  [{ order: 'tile columnTile row group' }, 'order must name "column" exactly once'],
  [{ order: 'tile columnTile row group column colum' }, 'order names "colum", which is no digit'],
  [{ views: { '2D': 'tile, x' } }, 'view "2D" names "x", which is no digit'],
  [{ name: '' }, 'name: a name takes'],
  [{ order: 3 }, 'order: '],
  [{ padding: 3 }, 'padding']
])('refuses %j', (change, message) => {
  expect(() => parse(change)).toThrow(message)
  expect(() => parse(change)).toThrow('l.json is no usable layout')
})

it.each(layouts.map((layout) => [layout.name, layout] as const))(
  '%s is written as a file that reads as the same layout',
  (_name, layout) => {
    const read = parseUserLayout(userLayoutJson(layout, 'mine'), 'l.json')
    const { rowDigits, columnDigits, order, views } = layout
    expect(read).toMatchObject({ name: 'mine', rowDigits, columnDigits, order, views })
  }
)

it('refuses what is not JSON', () => {
  expect(() => parseUserLayout('{', 'l.json')).toThrow('it is not JSON')
})
