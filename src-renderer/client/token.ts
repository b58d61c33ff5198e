const tokenHash = /^#t=([\w-]+)(?:&(.*))?$/

/**
 * Takes the token out of the address ('#t=TOKEN' or '#t=TOKEN&/view?...') and leaves the rest, so that it is in no
 * history, bookmark or copied link. It lives in memory only.
 */
export function takeToken(): string | undefined {
  const found = tokenHash.exec(location.hash)
  if (!found) return undefined
  const [, token, rest] = found
  const address = location.pathname + location.search + (rest ? `#${rest}` : '')
  history.replaceState(history.state, '', address)
  return token
}

/** An address with another token that is opened in this tab only changes the fragment: the page starts anew with it. */
export function reloadOnNewToken(): void {
  window.addEventListener('hashchange', () => {
    if (tokenHash.test(location.hash)) location.reload()
  })
}
