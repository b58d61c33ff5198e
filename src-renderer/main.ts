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
// Asked for while the frame is drawn, not after; what fails here is said where the view is shown.
viewNamed(route.value.view)
  .load()
  .catch(() => {})
app.mount('#app')
