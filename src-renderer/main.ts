import { createPinia } from 'pinia'
import { createApp } from 'vue'
import './design/tokens.css'
import './design/base.css'
import './design/controls.css'
import App from './App.vue'
import { followAddress, route } from './ground/route'
import { viewNamed } from './frame/views'
import { connect } from './client/connect'
import { useConnection } from './stores/connection'
import { useSettings } from './stores/settings'

const app = createApp(App)
app.use(createPinia())
// Before the first paint: the theme.
useSettings()
// The client takes its token out of the address before anyone reads the address.
void useConnection().start(connect)
followAddress()
// Mostly there with the page: drawn with the frame, at once. One that takes longer is not waited for, and what fails is
// said where the view is shown.
const mostWaitMs = 100
await Promise.race([
  viewNamed(route.value.view)
    .load()
    .catch(() => {}),
  new Promise((resolve) => setTimeout(resolve, mostWaitMs))
])
// Until now it was a picture (prerender.ts): nothing in it could be used.
const place = document.getElementById('app')!
place.removeAttribute('inert')
place.removeAttribute('aria-busy')
app.mount(place)
