/** Which Chromium, and how it is started, in tests and benchmarks. */
import { existsSync } from 'node:fs'

const candidates = [
  process.env.BLOCKSCOPE_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'
]

export const browserPath = candidates.find((path) => path !== undefined && existsSync(path))

/**
 * Parts of Chromium that cost a test more than the page does: the pages of the address bar's list, which no headless window
 * shows (Chromium loads two for each window), and a renderer kept in reserve. Playwright's own list stands before them,
 * because the last --disable-features counts: what else it turns off would reach for the network or hold back navigation.
 */
const disabledFeatures = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  'SpareRendererForSitePerProcess',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'WebUIOmniboxPopup'
]

/** For every Chromium that is started here, measured ones too. */
export const browserFlags = [
  `--disable-features=${disabledFeatures.join(',')}`,
  // Chromium refuses its sandbox to root, which containers run tests as.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])
]
