/** Every room says in a few lines what it is, what it may import, and how to add to it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const roomsOf = (folder: string, but: string[] = []) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !but.includes(entry.name))
    .map(({ name }) => join(folder, name))
const rooms = [
  ...roomsOf('src-shared', ['profile']),
  ...roomsOf('src-shared/profile'),
  ...roomsOf('src-main'),
  ...roomsOf('native', ['build'])
]

describe('rooms', () => {
  it.each(rooms)('%s has a README of a few lines', (room) => {
    const path = join(room, 'README.md')
    expect(existsSync(path)).toBe(true)
    const text = readFileSync(path, 'utf8')
    expect(text).toMatch(/\b(import|include)s?\b/i)
    expect(text).toMatch(/^- To |\badded\b/m)
    expect(text.trim().split('\n').length).toBeLessThanOrEqual(20)
  })

  it.each(['src-shared/profile', ...roomsOf('src-renderer')])('%s has one too', (room) => {
    const lines = readFileSync(join(room, 'README.md'), 'utf8').trim().split('\n')
    expect(lines.length).toBeLessThanOrEqual(20)
  })

  it.each(['src-shared', 'src-renderer', 'native'])('%s/rooms.json names all of them', (house) => {
    const { rooms } = JSON.parse(readFileSync(join(house, 'rooms.json'), 'utf8')) as {
      rooms: Record<string, string[]>
    }
    const there = roomsOf(house, ['build']).map((room) => room.slice(house.length + 1))
    expect(Object.keys(rooms).sort()).toEqual(there.sort())
    for (const allowed of Object.values(rooms))
      for (const room of allowed) expect([...there, '..']).toContain(room)
  })

  const { rooms: native } = JSON.parse(readFileSync('native/rooms.json', 'utf8')) as {
    rooms: Record<string, string[]>
  }
  it.each(Object.entries(native))('native/%s names what it may include', (room, allowed) => {
    const text = readFileSync(join('native', room, 'README.md'), 'utf8')
    const line = /- May include: ([^]*?)\n- /.exec(text)![1]!
    if (allowed.length === 0) expect(line).toContain('no other room')
    else if (!line.includes('every'))
      for (const name of allowed) expect(line).toContain(`\`${name}\``)
  })
})
