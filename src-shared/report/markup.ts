const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text inside HTML or XML, between tags or in a quoted attribute. */
export function escapeMarkup(text: string): string {
  return (
    text
      // XML 1.0 has no place for control characters, escaped or not.

      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, ' ')
      .replace(/[&<>"]/g, (character) => entities[character]!)
  )
}
