/** For `node --import`: a document without anything in it, for a page that is drawn where there is no browser. */
import { Window } from 'happy-dom'

const window = new Window({ url: 'http://localhost/' })
const names = ['document', 'location', 'history', 'localStorage', 'sessionStorage', 'matchMedia']
for (const name of [...names, 'addEventListener']) {
  const value = window[name]
  Object.defineProperty(globalThis, name, {
    value: typeof value === 'function' ? value.bind(window) : value
  })
}
Object.defineProperty(globalThis, 'window', { value: window })
