import { demangle } from './demangle'
import { nameTest } from './nameMatcher'

/** Whether a C++ name matches as it was recorded, mangled, or as it is shown. Text and case as nameTest has them. */
export function shownNameTest(
  text: string,
  options: { ignoreCase?: boolean } = {}
): (name: string) => boolean {
  const test = nameTest(text, options)
  return (name) => test(name) || test(demangle(name))
}
