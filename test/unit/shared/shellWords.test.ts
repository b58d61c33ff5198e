import { describe, expect, it } from 'vitest'
import { shellWords } from '@shared/shellWords'

describe('words of a command', () => {
  it.each([
    ['python train.py  --steps 100', ['python', 'train.py', '--steps', '100']],
    [`sh -c 'a | b > "c"'`, ['sh', '-c', 'a | b > "c"']],
    [String.raw`a\ b "c \"d\" \$e" ''`, ['a b', 'c "d" $e', '']],
    [`--name="two words"x`, ['--name=two wordsx']],
    ['  ', []]
  ])('%s', (typed, words) => expect(shellWords(typed)).toEqual(words))

  it.each([
    ['a | b', `"|" is for a shell: quote it, or capture sh -c '...'.`],
    ['a "$HOME"', `"$" is for a shell: quote it, or capture sh -c '...'.`],
    ['a\nb', `A second line is for a shell: quote it, or capture sh -c '...'.`],
    [`a 'b`, `The quote ' is not closed.`],
    ['a "b\\"', `The quote " is not closed.`]
  ])('refuses %s', (typed, message) => expect(() => shellWords(typed)).toThrow(message))
})
