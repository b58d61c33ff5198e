/** Stands in for 'electron' in tests: a module that is tested here must not need it, or must mock it. */
throw new Error(
  "A test imported 'electron' without vi.mock('electron'). Only src-main/desktop may import it."
)
