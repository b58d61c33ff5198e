/** Files of GPU tools, by the columns and keys that their sources and documents name. */

/** Quoted as the tools quote: every cell. */
export const csv = (...rows: readonly (readonly (string | number)[])[]) =>
  rows
    .map((row) => row.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(','))
    .join('\n') + '\n'

export const kernelHeader = [
  ...['Kind', 'Agent_Id', 'Queue_Id', 'Stream_Id', 'Thread_Id', 'Dispatch_Id', 'Kernel_Id'],
  ...['Kernel_Name', 'Correlation_Id', 'Start_Timestamp', 'End_Timestamp', 'LDS_Block_Size'],
  ...['Scratch_Size', 'VGPR_Count', 'Accum_VGPR_Count', 'SGPR_Count', 'Workgroup_Size_X'],
  ...['Workgroup_Size_Y', 'Workgroup_Size_Z', 'Grid_Size_X', 'Grid_Size_Y', 'Grid_Size_Z']
]
export const kernelRow = (
  name: string,
  correlation: number,
  start: string | number,
  end: string | number
) => [
  ...['KERNEL_DISPATCH', 'Agent 4', 1, 2, 77, correlation, 9, name, correlation, start, end],
  ...[512, 0, 64, 0, 32, 256, 1, 1, 2560, 2, 1]
]
export const apiHeader = [
  ...['Domain', 'Function', 'Process_Id', 'Thread_Id', 'Correlation_Id'],
  ...['Start_Timestamp', 'End_Timestamp']
]

export const kernels = csv(
  kernelHeader,
  kernelRow('gemm<float, "x">(float*)', 1, 1000, 1600),
  kernelRow('gemm<float, "x">(float*)', 2, 2000, 2100)
)
export const calls = csv(
  apiHeader,
  ['HIP_RUNTIME_API', 'hipLaunchKernel', 5, 77, 1, 500, 600],
  ['HIP_RUNTIME_API', 'hipLaunchKernel', 5, 77, 2, 700, 800],
  ['HIP_RUNTIME_API', 'hipMemcpy', 5, 77, 3, 900, 990]
)
export const markers = csv(
  apiHeader,
  ['MARKER_CORE_API', 'step', 5, 77, 9, 400, 850],
  ['MARKER_CORE_API', 'a mark', 5, 77, 10, 420, 420]
)
export const copies = csv(
  [
    'Kind',
    'Direction',
    'Stream_Id',
    'Source_Agent_Id',
    'Destination_Agent_Id',
    'Correlation_Id',
    'Start_Timestamp',
    'End_Timestamp'
  ],
  ['MEMORY_COPY', 'MEMORY_COPY_HOST_TO_DEVICE', 2, 'Agent 0', 'Agent 4', 3, 950, 980]
)
export const agents = csv(
  ['Node_Id', 'Agent_Type', 'Cu_Count', 'Max_Engine_Clk_Fcompute', 'Name', 'Product_Name'],
  [0, 'CPU', 0, 0, 'AMD EPYC', 'AMD EPYC'],
  [4, 'GPU', 304, 2100, 'gfx942', 'AMD Instinct MI300X']
)

export const ncuIdentity = [
  'ID',
  'Process ID',
  'Process Name',
  'Host Name',
  'Kernel Name',
  'Context',
  'Stream',
  'Block Size',
  'Grid Size',
  'Device',
  'CC'
]
export const ncuLaunch = (id: number, kernel: string) => [
  ...[id, 108, 'app', '127.0.0.1', kernel, 1, 7, '(256, 1, 1)', '(4096, 2, 1)', 0, '9.0']
]
export const ncuRaw =
  '==PROF== Connected to process 108\nsome text of the program, with a comma\n' +
  csv(
    [
      ...ncuIdentity,
      'gpu__time_duration.sum',
      'dram__bytes.sum',
      'sm__throughput.avg.pct_of_peak_sustained_elapsed',
      'launch__registers_per_thread',
      'sm__cycles_active.avg',
      'smsp__inst_executed.sum',
      'device__attribute_multiprocessor_count',
      'launch__func_cache_config'
    ],
    [
      '',
      '',
      '',
      '',
      '',
      '',
      '',
      '',
      '',
      '',
      '',
      'us',
      'Mbyte',
      '%',
      'register/thread',
      'cycle',
      'inst',
      '',
      ''
    ],
    [
      ...ncuLaunch(0, 'saxpy(int)'),
      '12.5',
      '1,000.25',
      '60',
      '32',
      '100',
      '5',
      '132',
      'CachePreferNone'
    ],
    [
      ...ncuLaunch(1, 'gemm<float>()'),
      '3.2',
      '2',
      '40',
      '168',
      '10',
      '1,234',
      '132',
      'CachePreferNone'
    ],
    [
      ...ncuLaunch(2, 'gemm<float>()'),
      '3.0',
      '2',
      '50',
      '168',
      'n/a',
      '1,234',
      '132',
      'CachePreferNone'
    ]
  ) +
  '==PROF== Disconnected from process 108\n'

const summary = (tag: string, hint: string, value: number) => ({
  ...{ tag, name: tag, hint },
  data: [{ name: 'value', type: 'float64', value: String(value) }]
})
const state = (device: number, k: number, summaries: object[], skipped?: string) => ({
  name: `Device=${device} T=F32 K=${k}`,
  device,
  axis_values: [
    { name: 'T', type: 'type', input_string: 'F32', is_active: true },
    { name: 'K', type: 'int64', input_string: `${k}`, value: `${k}` }
  ],
  summaries,
  is_skipped: skipped !== undefined,
  ...(skipped !== undefined && { skip_reason: skipped })
})
export const nvbenchFile = {
  meta: { argv: ['bench'] },
  devices: [
    {
      id: 0,
      name: 'NVIDIA H200',
      sm_version: 900,
      sm_default_clock_rate: 1_980_000_000,
      number_of_sms: 132,
      global_memory_bus_peak_clock_rate: 3_201_000_000,
      global_memory_bus_width: 6016
    }
  ],
  benchmarks: [
    {
      name: 'copy',
      states: [
        state(0, 64, [
          summary('nv/cold/sample_size', 'sample_size', 100),
          summary('nv/cold/time/gpu/mean', 'duration', 2e-6),
          summary('nv/cold/time/gpu/stdev/relative', 'percentage', 0.01),
          summary('nv/cold/bw/global/bytes_per_second', 'byte_rate', 1e12)
        ]),
        state(0, 128, [], 'too large')
      ]
    }
  ]
}
