/**
 * Runs before the first paint: the look, and away with the picture of the first view that came with the page (see
 * prerender.ts) where the address names another view.
 */
import { lookOf, savedSettings, showLook, shownTheme, systemLook } from './ground/look'

const { theme, density } = lookOf(savedSettings())
showLook(shownTheme(theme, systemLook()?.matches ?? false), density)

const app = document.getElementById('app')!
const named = /^#\/(\w+)/.exec(location.hash)?.[1]
if (named !== undefined && named !== app.dataset['view']) app.replaceChildren()
