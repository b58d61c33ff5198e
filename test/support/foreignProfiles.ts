/** A small file of each form that other tools write: for tests of the readers and for damaging them. */
import { perfettoTrace, xspace } from './protobufFiles'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const json = (value: unknown) => bytesOf(JSON.stringify(value))

const begin = 1
const end = 2
const instant = 3
const cleared = 1

/** Two threads of a process and a track below one of them; interned and plain names, a clock that counts on. */
export function samplePerfetto(): Uint8Array<ArrayBuffer> {
  const event = (timestamp: number, fields: object, more: object = {}) => ({
    timestamp,
    trusted_packet_sequence_id: 1,
    track_event: fields,
    ...more
  })
  return perfettoTrace([
    {
      clock_snapshot: { clocks: [{ clock_id: 6, timestamp: 1000 }] },
      trusted_packet_sequence_id: 9
    },
    {
      trusted_packet_sequence_id: 1,
      sequence_flags: cleared,
      track_descriptor: {
        uuid: '18446744073709551001',
        process: { pid: 42, process_name: 'trainer' }
      }
    },
    {
      trusted_packet_sequence_id: 1,
      track_descriptor: { uuid: 7, thread: { pid: 42, tid: 43, thread_name: 'main' } }
    },
    {
      trusted_packet_sequence_id: 1,
      track_descriptor: { uuid: 8, name: 'stream 7', parent_uuid: '18446744073709551001' }
    },
    {
      trusted_packet_sequence_id: 1,
      trace_packet_defaults: { track_event_defaults: { track_uuid: 7 } },
      interned_data: {
        event_names: [{ iid: 1, name: 'step' }],
        event_categories: [{ iid: 1, name: 'python' }],
        debug_annotation_names: [{ iid: 1, name: 'batch' }]
      }
    },
    event(1000, {
      type: begin,
      name_iid: 1,
      category_iids: [1],
      debug_annotations: [{ name_iid: 1, uint_value: 32 }]
    }),
    event(1200, { type: begin, name: 'forward', categories: ['python'] }),
    event(1300, { type: begin, name: 'gemm', categories: ['gpu'], track_uuid: 8 }),
    event(1350, { type: instant, name: 'mark' }),
    event(1900, { type: end, track_uuid: 8 }),
    event(1500, { type: end }),
    event(2000, { type: end }),
    { timestamp: 5, ftrace_events: { cpu: 0 }, trusted_packet_sequence_id: 3 },
    {
      trusted_packet_sequence_id: 2,
      sequence_flags: cleared,
      clock_snapshot: {
        clocks: [{ clock_id: 64, timestamp: 3, is_incremental: true, unit_multiplier_ns: 1000 }]
      },
      trace_packet_defaults: { timestamp_clock_id: 64, track_event_defaults: { track_uuid: 8 } }
    },
    { timestamp: 1, trusted_packet_sequence_id: 2, track_event: { type: begin, name: 'reduce' } },
    { timestamp: 2, trusted_packet_sequence_id: 2, track_event: { type: end } }
  ])
}

/** A GPU with a stream and a line that retells it, and a host; times since the epoch. */
export function sampleXspace(): Uint8Array<ArrayBuffer> {
  const start = '1760000000000000123'
  const name = (id: number, text: string) => ({ id, name: text })
  return xspace({
    planes: [
      {
        id: 1,
        name: '/device:GPU:0',
        lines: [
          {
            id: 13,
            name: 'Stream #13(Compute)',
            timestamp_ns: start,
            events: [
              {
                metadata_id: 1,
                offset_ps: 500_000,
                duration_ps: 2_000_500,
                stats: [
                  { metadata_id: 1, uint64_value: 77 },
                  {
                    metadata_id: 2,
                    str_value:
                      ' regs:32 static_shared:0 dynamic_shared:16384 grid:132,1,1 block:384,1,1 occ_pct:18.75'
                  },
                  { metadata_id: 3, ref_value: 4 }
                ]
              },
              { metadata_id: 1, offset_ps: 4_000_000, duration_ps: 1_000_000 },
              {
                metadata_id: 2,
                offset_ps: 6_000_000,
                duration_ps: 250_000,
                stats: [{ metadata_id: 5, str_value: 'kind:H2D size:4096 dest:0 async:1' }]
              }
            ]
          },
          {
            id: 14,
            name: 'XLA Ops',
            timestamp_ns: start,
            events: [{ metadata_id: 3, offset_ps: 500_000, duration_ps: 4_500_000 }]
          }
        ],
        event_metadata: {
          1: name(1, 'gemm_fusion_dot_1'),
          2: name(2, 'MemcpyH2D'),
          3: { id: 3, name: '%dot.1 = f32[]', display_name: 'dot.1' }
        },
        stat_metadata: {
          1: name(1, 'correlation_id'),
          2: name(2, 'kernel_details'),
          3: name(3, 'hlo_op'),
          4: name(4, 'dot.1'),
          5: name(5, 'memcpy_details')
        }
      },
      {
        id: 2,
        name: '/host:CPU',
        lines: [
          {
            id: 99,
            name: 'python',
            timestamp_ns: '1760000000000000000',
            events: [
              { metadata_id: 1, offset_ps: 0, duration_ps: 9_000_000 },
              { metadata_id: 2, offset_ps: 1_000_000, duration_ps: 3_000_000 },
              { metadata_id: 2, num_occurrences: 5, duration_ps: 10 }
            ]
          }
        ],
        event_metadata: { 1: name(1, 'train_step'), 2: name(2, 'PjitFunction(step)') }
      }
    ],
    errors: ['Some events were dropped']
  })
}

export const sampleFolded = () =>
  bytesOf('main;load 10\nmain;compute;gemm 70\nmain;compute 15\n[unknown] 5\n')

export const sampleSpeedscope = () =>
  json({
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    shared: {
      frames: [{ name: 'main', file: 'a.py', line: 3 }, { name: 'f' }, { name: 'f', file: 'b.py' }]
    },
    profiles: [
      {
        type: 'sampled',
        name: 'samples',
        unit: 'milliseconds',
        startValue: 0,
        endValue: 6,
        samples: [[0], [0, 1], [0, 2]],
        weights: [1, 2, 3]
      },
      {
        type: 'evented',
        name: 'events',
        unit: 'microseconds',
        startValue: 0,
        endValue: 10,
        events: [
          { type: 'O', frame: 0, at: 0 },
          { type: 'O', frame: 1, at: 2 },
          { type: 'C', frame: 1, at: 5 },
          { type: 'C', frame: 0, at: 10 }
        ]
      }
    ]
  })

export const sampleCpuProfile = () =>
  json({
    nodes: [
      {
        id: 1,
        callFrame: {
          functionName: '(root)',
          scriptId: '0',
          url: '',
          lineNumber: -1,
          columnNumber: -1
        },
        hitCount: 0,
        children: [2, 4]
      },
      {
        id: 2,
        callFrame: {
          functionName: 'run',
          scriptId: '5',
          url: 'file:///a.js',
          lineNumber: 9,
          columnNumber: 2
        },
        hitCount: 1,
        children: [3]
      },
      {
        id: 3,
        callFrame: {
          functionName: '',
          scriptId: '5',
          url: 'file:///a.js',
          lineNumber: 19,
          columnNumber: 2
        },
        hitCount: 2
      },
      {
        id: 4,
        callFrame: {
          functionName: '(garbage collector)',
          scriptId: '0',
          url: '',
          lineNumber: -1,
          columnNumber: -1
        },
        hitCount: 1
      }
    ],
    startTime: 1000,
    endTime: 1100,
    samples: [2, 3, 3, 4],
    timeDeltas: [10, 20, 30, 25]
  })

export const sampleCaliper = () =>
  json({
    data: [
      [1.5, 0.25, 0, 0],
      [0.5, 0.5, 1, 0],
      [0.25, 0.75, 1, 1],
      [0.125, 0.125, null, 0]
    ],
    columns: ['sum#time.duration', 'min#time.duration', 'path', 'mpi.rank'],
    column_metadata: [
      { is_value: true, 'attribute.unit': 'sec' },
      { is_value: true },
      { is_value: false },
      { is_value: true }
    ],
    nodes: [
      { label: 'main', column: 'path' },
      { label: 'solve', column: 'path', parent: 0 }
    ]
  })

export const sampleCali = () =>
  bytesOf(
    [
      '__rec=node,id=20,attr=10,data=276,parent=3',
      '__rec=node,id=21,attr=8,data=region,parent=20',
      '__rec=node,id=22,attr=21,data=main',
      '__rec=node,id=23,attr=21,data=a\\,b\\=c,parent=22',
      '__rec=node,id=24,attr=10,data=85,parent=5',
      '__rec=node,id=25,attr=8,data=sum#time.duration,parent=24',
      '__rec=node,id=26,attr=8,data=count,parent=24',
      '__rec=ctx,ref=23,attr=25=26,data=0.25=4',
      '__rec=ctx,ref=22,attr=25=26,data=1.25=1',
      '__rec=globals,ref=22',
      ''
    ].join('\n')
  )

/** All of them, by name. */
export const foreignProfiles: readonly { name: string; bytes: () => Uint8Array }[] = [
  { name: 'trace.pftrace', bytes: samplePerfetto },
  { name: 'host.xplane.pb', bytes: sampleXspace },
  { name: 'stacks.folded', bytes: sampleFolded },
  { name: 'a.speedscope.json', bytes: sampleSpeedscope },
  { name: 'a.cpuprofile', bytes: sampleCpuProfile },
  { name: 'caliper.json', bytes: sampleCaliper },
  { name: 'caliper.cali', bytes: sampleCali }
]
