/**
 * Prints the page as it stands before the host has said anything: the frame and the first view, as HTML. The build puts it
 * into index.html, so that it is on the screen while the scripts are still on their way; they draw over it.
 * Run by scripts/firstPaint.ts, on a document of its own.
 */
import { createPinia } from 'pinia'
import { createSSRApp } from 'vue'
import { renderToString } from 'vue/server-renderer'
import App from './App.vue'

const app = createSSRApp(App)
app.use(createPinia())
process.stdout.write(await renderToString(app))
