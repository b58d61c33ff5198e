/**
 * What the page starts with, so that it is on the screen early: the first view as HTML, its look before the first paint,
 * and its files asked for with the page and compiled as they arrive.
 */
import vue from '@vitejs/plugin-vue'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build, type HtmlTagDescriptor, type Plugin, type Rolldown } from 'vite'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** What src-renderer/frame/views.ts names as the first view. */
const firstView = { id: 'validate', file: 'views/validate/ValidateView.vue' }
const lookFile = 'src-renderer/firstLook.ts'

const isMadeOf = (chunk: Rolldown.OutputChunk, file: string) =>
  chunk.facadeModuleId?.endsWith(file) ?? false

const chunksOf = (bundle: Rolldown.OutputBundle) =>
  Object.values(bundle).filter((file) => file.type === 'chunk')

/** The only style that the first view has in an attribute; the page's policy allows none that is not set by a script. */
const hiddenStyle = ' style="display:none;"'

/**
 * The frame and the first view as HTML, before the host has said anything. They are drawn in a process of their own: a
 * document among the globals of a build would tell other plugins that they run in a browser.
 */
async function drawFirstView(): Promise<string> {
  const out = path('../../out')
  await mkdir(out, { recursive: true })
  // Inside the project: what it imports is found in node_modules.
  const folder = await mkdtemp(join(out, 'prerender-'))
  try {
    await build({
      configFile: false,
      root: path('../../src-renderer'),
      resolve: { alias: { '@shared': path('../../src-shared') } },
      plugins: [vue()],
      logLevel: 'error',
      build: { ssr: 'prerender.ts', outDir: folder, minify: false, copyPublicDir: false }
    })
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...['--import', new URL('./emptyDocument.mjs', import.meta.url).href],
      join(folder, 'prerender.js')
    ])
    const html = stdout.replaceAll(hiddenStyle, ' hidden').replace(/<!--[^>]*-->/g, '')
    const styled = / style="[^"]*"/.exec(html)
    if (styled)
      throw new Error(
        `The first view has${styled[0]}, which the policy of the page forbids in HTML.`
      )
    return html
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The first view is on the screen with the page. It takes no clicks until the scripts have drawn over it. */
const withFirstView: Plugin = {
  name: 'with-first-view',
  apply: 'build',
  buildStart() {
    this.emitFile({ type: 'chunk', id: path(`../../${lookFile}`), name: 'firstLook' })
  },
  transformIndexHtml: {
    order: 'post',
    async handler(html, { bundle }) {
      const look = chunksOf(bundle!).find((chunk) => isMadeOf(chunk, lookFile))
      const place = '<div id="app"></div>'
      const main = '<script type="module"'
      if (!look || !html.includes(place) || !html.includes(main))
        throw new Error('index.html has no place for the first view.')
      const drawn = `<div id="app" inert aria-busy="true" data-view="${firstView.id}">${await drawFirstView()}</div>`
      // Modules run in the order in which they stand.
      const first = `<script type="module" blocking="render" crossorigin src="./${look.fileName}"></script>`
      return {
        // Functions: "$" in what is put in is no pattern.
        html: html.replace(place, () => drawn).replace(main, () => `${first}\n    ${main}`),
        tags: look.imports.filter((file) => !html.includes(file)).map(preload)
      }
    }
  }
}

const link = (fileName: string, attrs: Record<string, string>): HtmlTagDescriptor => ({
  tag: 'link',
  attrs: { ...attrs, crossorigin: true, href: `./${fileName}` },
  injectTo: 'head'
})

const preload = (fileName: string) => link(fileName, { rel: 'modulepreload' })

/**
 * The first view and the font of its words are asked for with the page, not when a script that has run by then asks for
 * them: a whole journey to the server earlier.
 */
const preloadFirstView: Plugin = {
  name: 'preload-first-view',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle }) {
      if (!bundle) return []
      const view = chunksOf(bundle).find((chunk) => isMadeOf(chunk, firstView.file))
      const font = Object.keys(bundle).find((name) => /inter-latin.*\.woff2$/.test(name))
      if (!view || !font)
        throw new Error(`The page has no ${firstView.file} or no font: what is asked for first?`)
      return [
        link(font, { rel: 'preload', as: 'font', type: 'font/woff2' }),
        ...[view.fileName, ...view.imports].filter((file) => !html.includes(file)).map(preload)
      ]
    }
  }
}

/**
 * V8 compiles the functions of these files as they arrive, beside the page's thread, and not one by one when each is first
 * called: nearly all of what the page starts with runs at once (V8, "Explicit compile hints").
 */
const compileAtOnce: Plugin = {
  name: 'compile-at-once',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      const chunks = chunksOf(bundle)
      const starting = chunks.filter((chunk) => chunk.isEntry || isMadeOf(chunk, firstView.file))
      const names = new Set(starting.flatMap(({ fileName, imports }) => [fileName, ...imports]))
      for (const chunk of chunks)
        if (names.has(chunk.fileName)) chunk.code = `//# allFunctionsCalledOnLoad\n${chunk.code}`
    }
  }
}

export const firstPaint: Plugin[] = [withFirstView, preloadFirstView, compileAtOnce]
