/** Every form that is read, one row each; the first row that recognises a file reads it. */
import { saysCapture } from '../../capture/captureFiles'
import { isShard } from '../../capture/shardForm'
import { ShardParser } from './captureProfile'
import type { FileHead } from './fileHead'
import { ChromeTraceParser } from './readChromeTrace'
import { CaliParser } from './readCali'
import { readCaliper } from './readCaliper'
import { readCpuProfile } from './readCpuProfile'
import { csvExportHeader, readCsvExport } from './readCsvExport'
import { WholeParser, type KnownForm, type ProfileReaderRow } from './reader'
import { FoldedParser, isFolded } from './readFolded'
import { HatchetParser } from './readHatchet'
import { DatabaseParser, readDatabase } from './readDatabase'
import { isHatchetMsgpack, readHatchetMsgpack } from './readHatchetMsgpack'
import { isNcuCsv, NcuCsvParser } from './readNcuCsv'
import { readNvbench } from './readNvbench'
import { isRocprofCsv, RocprofCsvParser } from './readRocprofCsv'
import { readRocprofJson, rocprofJsonKey } from './readRocprofJson'
import { isSqlite } from './sqliteFile'
import { readJsonExport } from './readJsonExport'
import { isPerfetto, PerfettoParser } from './readPerfetto'
import { readRun } from './readRun'
import { readSpeedscope } from './readSpeedscope'
import { isXplane, readXplane } from './readXplane'

export const runReader: ProfileReaderRow = {
  name: "a run's run.json",
  recognise: (head) => head.hasKeys('formatVersion') && !saysCapture(head.text),
  open: (name) => new WholeParser((bytes) => ({ ...readRun(bytes, name), timeline: null }))
}

const traceKeys = [
  'traceEvents',
  'displayTimeUnit',
  'schemaVersion',
  'deviceProperties',
  'distributedInfo',
  'baseTimeNanoseconds',
  'traceName'
]
const nodeKeys = ['frame', 'metrics', 'children']

export const rocprofCsvReader: ProfileReaderRow = {
  name: "rocprofv3's CSV",
  recognise: isRocprofCsv,
  open: (name) => new RocprofCsvParser(name)
}

export const shardReader: ProfileReaderRow = {
  name: 'a shard of blockscope capture',
  recognise: (head) => isShard(head.bytes),
  open: (name) => new ShardParser(name)
}

export const nvbenchReader: ProfileReaderRow = {
  name: "nvbench's JSON",
  recognise: (head) =>
    head.hasKeys('benchmarks') && (head.hasKeys('meta') || head.hasKeys('devices')),
  open: (name) => new WholeParser((bytes) => ({ tree: readNvbench(bytes, name), timeline: null }))
}

export const readers: readonly ProfileReaderRow[] = [
  shardReader,
  {
    name: 'hatchet msgpack',
    recognise: (head) => isHatchetMsgpack(head.bytes),
    open: (name) =>
      new WholeParser((bytes) => ({ tree: readHatchetMsgpack(bytes, name), timeline: null }))
  },
  runReader,
  // Binary forms may begin with bytes that look like text.
  {
    name: "JAX's and TensorFlow's xplane.pb",
    recognise: (head) => isXplane(head.bytes),
    open: (name) => new WholeParser((bytes) => readXplane(bytes, name))
  },
  {
    name: 'a Perfetto trace (.pftrace)',
    recognise: (head) => isPerfetto(head.bytes),
    open: (name) => new PerfettoParser(name)
  },
  {
    name: 'speedscope JSON',
    recognise: (head) =>
      head.hasKeys('shared', 'profiles') ||
      (head.hasKeys('shared') && /^.{0,2000}speedscope|"frames"/s.test(head.text)),
    open: (name) => new WholeParser((bytes) => readSpeedscope(bytes, name))
  },
  {
    name: "V8's .cpuprofile",
    recognise: (head) =>
      head.hasKeys('nodes', 'startTime') ||
      (head.hasKeys('nodes') && head.text.includes('"callFrame"')) ||
      (head.hasKeys('head') && head.text.includes('"functionName"')),
    open: (name) => new WholeParser((bytes) => readCpuProfile(bytes, name))
  },
  {
    name: "Caliper's JSON",
    recognise: (head) =>
      head.hasKeys('columns', 'column_metadata') ||
      (head.hasKeys('data') && /^\s*\{\s*"data"\s*:\s*\[\s*\[/.test(head.text)),
    open: (name) => new WholeParser((bytes) => readCaliper(bytes, name))
  },
  {
    name: "Caliper's .cali",
    recognise: (head) => /^\s*__rec=/.test(head.text),
    open: (name) => new CaliParser(name)
  },
  {
    name: 'the CSV of convert',
    recognise: (head) => head.startsWith(csvExportHeader),
    open: (name) =>
      new WholeParser((bytes) => ({ tree: readCsvExport(bytes, name), timeline: null }))
  },
  {
    name: 'the JSON of convert',
    recognise: (head) => head.hasKeys('devices', 'nodes'),
    open: (name) =>
      new WholeParser((bytes) => ({ tree: readJsonExport(bytes, name), timeline: null }))
  },
  {
    name: 'folded stacks',
    recognise: isFolded,
    open: (name) => new FoldedParser(name)
  },
  {
    name: 'hatchet JSON',
    recognise: isHatchet,
    open: (name) => {
      const parser = new HatchetParser(name)
      return {
        write: (chunk) => parser.write(chunk),
        finish: () => ({ tree: parser.finish(), timeline: null })
      }
    }
  },
  {
    name: 'a Chrome trace (Proton, PyTorch, JAX)',
    recognise: (head) =>
      head.kind === 'list'
        ? head.keys.includes('ph')
        : traceKeys.some((key) => head.hasKeys(key)) && !isKnown(head),
    open: (name) => new ChromeTraceParser(name)
  },
  {
    name: 'an SQLite database of Nsight Systems or rocprofv3',
    recognise: (head) => isSqlite(head.bytes),
    open: (name) => new DatabaseParser(name),
    openAt: readDatabase
  },
  {
    name: "rocprofv3's JSON",
    recognise: (head) => head.hasKeys(rocprofJsonKey),
    open: (name) => new WholeParser((bytes) => readRocprofJson(bytes, name))
  },
  rocprofCsvReader,
  {
    name: "Nsight Compute's CSV",
    recognise: isNcuCsv,
    open: (name) => new NcuCsvParser(name)
  },
  nvbenchReader
]

/** Reports of Nsight Systems, before 2021 named .qdrep. */
export const nsysReportName = /\.(nsys-rep|qdrep)$/i

/** What is recognised to be named, not read. */
export const knownForms: readonly KnownForm[] = [
  {
    name: "Nsight Systems' report (.nsys-rep)",
    fileName: nsysReportName,
    recognise: () => false,
    advice: 'run nsys export --type sqlite FILE and open what that writes'
  },
  {
    name: "Nsight Compute's report (.ncu-rep)",
    fileName: /\.ncu-rep$/i,
    // As Extra-P's reader of these files describes them (extrap/fileio/ncu_reader/binary_parser/ncu-report.ksy).
    recognise: (head) => head.startsWith('NVR\0'),
    advice: 'export it with ncu --import FILE --csv --page raw > FILE.csv and open that'
  },
  {
    name: "a capture's capture.json",
    recognise: (head) => saysCapture(head.text),
    advice: 'it says what was captured; open its folder, or the shards beside it'
  },
  { name: 'a package.json', recognise: (head) => head.hasKeys('name', 'version') }
]

function isKnown(head: FileHead): boolean {
  return knownForms.some((form) => form.recognise(head))
}

/** A list whose first element is a node, or of anything else but events: its reader says what it expects where. */
function isHatchet(head: FileHead): boolean {
  const isNode = nodeKeys.some((key) => head.keys.includes(key))
  if (head.kind === 'object') return isNode && !isKnown(head)
  if (head.kind !== 'list') return false
  if (head.element !== 'object') return head.element !== null || head.isEnough
  if (isNode) return true
  const isAll = head.hasAllKeys || head.isEnough
  return (
    isAll && !head.keys.includes('ph') && (head.keys.includes('name') || head.keys.length === 0)
  )
}
