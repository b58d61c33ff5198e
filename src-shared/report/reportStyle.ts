/** How a report looks on a screen, in either look, and on A4 in the light one: no font or picture from anywhere else. */
import { paperTokens } from '../charts/paperTheme'
import { darkReportStyle } from './reportDark'

const tokens = Object.entries(paperTokens)
  .filter(([name]) => !/^--(chart|heat)/.test(name))
  .map(([name, value]) => `${name}: ${value}`)
  .join('; ')

export const reportStyle = `
:root { color-scheme: light; ${tokens} }
@page { size: A4; margin: 13mm 12mm 14mm }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 28px 24px; max-width: 1040px; background: var(--surface-1); color: var(--text-1);
  font: 13px/1.5 var(--font-sans); print-color-adjust: exact; -webkit-print-color-adjust: exact }
header, footer { display: flex; justify-content: space-between; gap: 16px; color: var(--text-2); font-size: 11px }
footer { margin-top: 24px; padding-top: 8px; border-top: 1px solid var(--line) }
h1 { margin: 14px 0; font-size: 20px; line-height: 1.25 }
h2 { margin: 18px 0 4px; font-size: 13px }
h3 { margin: 14px 0 4px; font-size: 12px }
h2 small { margin-left: 8px; color: var(--text-2); font-size: 11px; font-weight: 400 }
p { margin: 4px 0 }
code, pre { font-family: var(--font-mono); font-size: 11px; font-variant-ligatures: none }
pre { margin: 4px 0; padding: 10px 12px; border-radius: 6px; background: var(--surface-2); white-space: pre-wrap;
  overflow-wrap: anywhere }
.banner { display: flex; gap: 14px; padding: 12px 16px; border-radius: 10px }
.banner .sign { font-size: 22px; line-height: 1.2 }
.banner p { color: var(--text-2); font-size: 12px }
.banner p.verdict { color: var(--text-1); font-size: 15px; font-weight: 600; margin: 0 }
.ok { background: var(--ok-soft) } .ok .sign { color: var(--ok) }
.bad { background: var(--bad-soft) } .bad .sign { color: var(--bad) }
.warn { background: var(--warn-soft) } .warn .sign { color: var(--warn) }
.facts { display: grid; grid-template-columns: 1fr 1fr 1.2fr 1fr; gap: 12px; margin: 14px 0 0 }
.facts dt { color: var(--text-3); font-size: 11px }
.facts dd { margin: 0; font-weight: 500 }
.facts dd + dd { color: var(--text-2); font-weight: 400; font-size: 12px }
.more { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; font-size: 12px }
.more dt { color: var(--text-3) }
.more dd { margin: 0; overflow-wrap: anywhere }
table { width: 100%; border-collapse: collapse; font-size: 12px; font-variant-numeric: tabular-nums }
thead { display: table-header-group }
th { color: var(--text-2); font-weight: 500; text-align: left; vertical-align: bottom }
th, td { padding: 3px 8px 3px 0; border-bottom: 1px solid var(--line) }
tbody th { color: var(--text-1); font-weight: 400; white-space: nowrap }
tbody th code { font-size: 10.5px }
.right { text-align: right; white-space: nowrap }
.steps { font-size: 10.5px }
.steps td { padding-right: 6px }
.steps td:nth-child(-n + 2) { white-space: nowrap }
.dim { color: var(--text-3) }
.cell { display: inline-flex; gap: 6px; align-items: center; white-space: nowrap }
.pass { color: var(--ok) } .fail { color: var(--bad) }
figure { margin: 4px 0 }
figure svg { display: block; width: 100%; height: auto }
figcaption { color: var(--text-2); font-size: 11px }
.maps { display: grid; grid-template-columns: repeat(3, 1fr); gap: 12px }
tr, figure, .banner, .facts, pre { break-inside: avoid }
h2, h3 { break-after: avoid }
@media print { body { max-width: none; padding: 0 } }
@media (max-width: 640px) {
  .facts, .maps { grid-template-columns: 1fr 1fr }
  .wide { overflow-x: auto }
  header { flex-wrap: wrap }
}${darkReportStyle}`
