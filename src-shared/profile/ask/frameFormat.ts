/** proton-viewer's --format of names such as 'dir/file.py:12@function'. */
export const frameFormats = [
  'full',
  'file_function_line',
  'function_line',
  'file_function'
] as const
export type FrameFormat = (typeof frameFormats)[number]

/** Python frames 'file:line@function', and the older order 'file:function@line' of versions up to 3.5. */
const frame = /^(?<file>.*?)(?::(?<line>\d+)@(?<name>[^@]+)|:(?<oldName>[^:@]+)@(?<oldLine>\d+))$/

/** A name in the form asked for; names that are not source locations stay as they are. */
export function formatFrame(name: string, format: FrameFormat): string {
  if (format === 'full') return name
  const parts = frame.exec(name)?.groups
  if (!parts) return name
  const file = parts.file!.slice(parts.file!.lastIndexOf('/') + 1)
  const line = parts.line ?? parts.oldLine!
  const functionName = parts.name ?? parts.oldName!
  if (format === 'file_function_line') return `${file}:${line}@${functionName}`
  return format === 'function_line' ? `${line}@${functionName}` : `${file}@${functionName}`
}

/** As proton-viewer does it: cut at separators whether or not they are there, so that ROOT becomes ROOT@ROOT. */
export function formatFrameLikeProton(name: string, format: FrameFormat): string {
  const after = (text: string, separator: string) => text.slice(text.lastIndexOf(separator) + 1)
  const before = (text: string, separator: string) => text.split(separator)[0]!
  if (format === 'file_function_line') return after(name, '/')
  if (format === 'function_line') return after(name, ':')
  if (format === 'file_function') {
    return `${before(after(name, '/'), ':')}@${before(after(name, '@'), ':')}`
  }
  return name
}
