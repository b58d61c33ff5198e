import { build } from 'vite'

/** Builds out/renderer once per test run: the server and the browser tests use the real page. */
export default async function buildPage(): Promise<void> {
  await build({ configFile: 'vite.page.config.ts', logLevel: 'error' })
}
