/** What is missing of a capture, in sentences; nothing where nothing is. */
import { count, counted, percent } from '../units'
import type { ProcessAccount } from './accounting'
import { injectedLibrary } from './captureFiles'
import { processLabel } from './processLabel'

export const labelOf = (account: ProcessAccount): string => processLabel(account.pid, account)

export function accountSentences(accounts: readonly ProcessAccount[]): string[] {
  const sdk = accounts.find(({ rocprofiler }) => rocprofiler)?.rocprofiler
  return [
    ...(sdk
      ? [
          `Captured by rocprofiler-sdk ${sdk.version}; blockscope's capture was not run on an AMD GPU: hold it against rocprofv3 before you rely on it.`
        ]
      : []),
    ...accounts.flatMap(sentencesOf)
  ]
}

function sentencesOf(account: ProcessAccount): string[] {
  const { lostKernels, expectedKernels, read, state } = account
  const who = labelOf(account)
  if (state === 'failed') return [`${who} was not captured: ${account.failure}`]
  const said: string[] = []
  const others = otherTools(account)
  if (others)
    said.push(`${who} names another profiler, which ran beside: ROCP_TOOL_LIBRARIES is ${others}.`)
  if (lostKernels > 0)
    said.push(
      `${who}: ${count(lostKernels)} of ${counted(expectedKernels, 'kernel')} (${percent(lostKernels / expectedKernels)}) have no record${whyLost(account)}.`
    )
  else if (state === 'cut off')
    said.push(`${who} was killed or still runs: what it launched last may be missing.`)
  if (account.surplusKernels > 0)
    said.push(
      `${who}: ${counted(account.surplusKernels, 'kernel record')} more than launches that were seen, of graphs above all.`
    )
  const rest: [number, string, string][] = [
    [read.repeated, 'record came twice and was', 'records came twice and were'],
    [
      read.withoutTime,
      'record ends before it begins and is',
      'records end before they begin and are'
    ]
  ]
  for (const [number, one, many] of rest)
    if (number > 0) said.push(`${who}: ${counted(number, one, many)} left out of the times.`)
  if (account.unfinished > 0)
    said.push(
      `${who}: ${counted(account.unfinished, 'kernel or copy', 'kernels and copies')} had not ended at the end and are in no time.`
    )
  if (read.measured > 0)
    said.push(
      `${who}: ${counted(read.measured, 'launch was', 'launches were')} measured by counters, run once for each of their passes, and have no time.`
    )
  if (read.withoutLaunch > 0)
    said.push(`${who}: the calls of ${counted(read.withoutLaunch, 'record')} were not recorded.`)
  if (account.counters?.missing) said.push(`${who} has no counters: ${account.counters.missing}`)
  if (account.python) said.push(...pythonSentences(who, account.python))
  return said
}

/** What the program put in the place of the library, which the environment names too. */
function otherTools({ rocprofiler }: ProcessAccount): string | undefined {
  const tools = rocprofiler?.tools
  return tools && !tools.includes(injectedLibrary) ? tools : undefined
}

function pythonSentences(
  who: string,
  { missing, forgotten }: NonNullable<ProcessAccount['python']>
): string[] {
  if (missing) return [`${who} has no Python call paths: ${missing}`]
  if (forgotten === 0) return []
  return [
    `${who}: ${counted(forgotten, 'launch', 'launches')} beyond a million call paths have none.`
  ]
}

function whyLost({ state, dropped, unwritten, rocprofiler }: ProcessAccount): string {
  if (unwritten > 0) return ': the disk took no more'
  if (dropped > 0) return `: ${rocprofiler ? 'rocprofiler-sdk' : 'CUPTI'} dropped ${count(dropped)}`
  return state === 'cut off' ? ': the process was killed or still runs' : ''
}
