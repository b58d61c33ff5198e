/**
 * What the page looks like before anything else of it runs: theme and density, from what this person chose. The first file
 * of the page is made of this one alone, so it imports nothing.
 */
export type ThemeChoice = 'system' | 'light' | 'dark'
export type Density = 'compact' | 'comfortable'

export interface Look {
  theme: ThemeChoice
  density: Density
}

export const settingsKey = 'blockscope.settings'

/** What was kept in this browser or window, unchecked; empty where it cannot be read. */
export function savedSettings(): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(settingsKey) ?? '{}')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

export const oneOf = <T extends string>(value: unknown, allowed: readonly T[], fallback: T): T =>
  allowed.includes(value as T) ? (value as T) : fallback

export const lookOf = (saved: Record<string, unknown>): Look => ({
  theme: oneOf(saved['theme'], ['system', 'light', 'dark'], 'system'),
  density: oneOf(saved['density'], ['compact', 'comfortable'], 'compact')
})

export const shownTheme = (theme: ThemeChoice, systemIsDark: boolean): 'light' | 'dark' =>
  theme === 'system' ? (systemIsDark ? 'dark' : 'light') : theme

export const systemLook = (): MediaQueryList | undefined =>
  globalThis.matchMedia?.('(prefers-color-scheme: dark)')

export function showLook(theme: 'light' | 'dark', density: Density): void {
  document.documentElement.dataset['theme'] = theme
  document.documentElement.dataset['density'] = density
}
