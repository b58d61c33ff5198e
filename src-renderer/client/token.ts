/**
 * Takes the token out of the address ('#t=TOKEN' or '#t=TOKEN&/view?...') and leaves the rest, so that it is in no
 * history, bookmark or copied link. It lives in memory only.
 */
export function takeToken(): string | undefined {
  const found = /^#t=([\w-]+)(?:&(.*))?$/.exec(location.hash)
  if (!found) return undefined
  const [, token, rest] = found
  const address = location.pathname + location.search + (rest ? `#${rest}` : '')
  history.replaceState(history.state, '', address)
  return token
}
