import { build } from 'vite'

/** Builds out/node once per test run: CLI tests spawn the real program. */
export default async function buildNode(): Promise<void> {
  await build({ configFile: 'vite.node.config.ts', logLevel: 'error' })
}
