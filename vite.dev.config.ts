import { defineConfig, mergeConfig } from 'vite'
import { devEngine } from './scripts/devEngine.ts'
import page from './vite.page.config.ts'

/** npm run dev: the page from its sources, with reload, on a real engine. */
export default defineConfig(async () => mergeConfig(page, { plugins: [await devEngine()] }))
