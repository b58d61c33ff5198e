import { build } from 'vite'

/** Builds out/node once per test run: CLI tests spawn the real program. BLOCKSCOPE_SKIP_BUILD=1 reuses the last build. */
export default async function buildNode(): Promise<void> {
  if (process.env.BLOCKSCOPE_SKIP_BUILD === '1') return
  await build({ configFile: 'vite.node.config.ts', logLevel: 'error' })
}
