/** C0 and C1 controls, DEL, line separators, and the marks that turn the direction of text. */
export const controls = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
const anyControl = new RegExp(controls.source)
const shortEscapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** One line of text without anything that a terminal obeys: what it would obey is shown as an escape. */
export function plainLine(text: string): string {
  // Almost every line is plain, and to see that takes less than to replace nothing.
  if (!anyControl.test(text)) return text
  return text.replace(controls, (character) => shortEscapes[character] ?? escaped(character))
}

function escaped(character: string): string {
  const code = character.charCodeAt(0).toString(16)
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
}
