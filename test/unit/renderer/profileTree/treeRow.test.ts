import { describe, expect, it } from 'vitest'
import {
  cellText,
  changeClass,
  cutName,
  indentOf
} from '../../../../src-renderer/profileTree/treeRow'

const plain = { swatch: false, state: false }
const name = 'cutlass::device_kernel<Sm90_128x256x64_fp8>'

describe('A row of the tree', () => {
  it('keeps both ends of a name that is too long, and loses no letter of it', () => {
    const { head, headLetters, tail } = cutName(name, 18 + 7 * 20, 7, 0, plain)
    expect(head + tail).toBe(name)
    expect(headLetters + tail.length).toBe(20)
    expect(tail).toBe('6x64_fp8>')
  })

  it('leaves a name that fits, and one before anything is measured', () => {
    for (const [room, letter] of [
      [18 + 7 * 43, 7],
      [0, 0]
    ] as const)
      expect(cutName(name, room, letter, 0, plain)).toEqual({
        head: name,
        headLetters: 43,
        tail: ''
      })
  })

  it('has less room the deeper it lies and the more stands before it', () => {
    const letters = (depth: number, has = plain) =>
      cutName(name, 250, 7, depth, has).headLetters + cutName(name, 250, 7, depth, has).tail.length
    expect(letters(2)).toBe(letters(0) - 4)
    expect(letters(0, { swatch: true, state: true })).toBeLessThan(letters(0))
    expect(letters(1000)).toBe(6)
    expect(indentOf(1000)).toBe(indentOf(30))
  })

  it('shows numbers and texts, and gives a change its sign and its side', () => {
    const values = Float64Array.of(12.345, -2)
    const change = { label: 'change', values, texts: null }
    expect(cellText({ ...change, label: 'time/ms' }, 0, false)).toBe('12.3')
    expect(cellText({ ...change, texts: ['', 'cuda'] }, 1, false)).toBe('cuda')
    expect(cellText(change, 0, true)).toBe('+12.3')
    expect([0, 1].map((node) => changeClass(change, node, true))).toEqual(['slower', 'faster'])
    expect(changeClass(change, 0, false)).toBe('')
  })
})
