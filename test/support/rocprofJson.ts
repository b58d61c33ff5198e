/** A file as rocprofv3 writes it, by the fields of rocprofiler-sdk's generateJSON.cpp and its tests. */
export function rocprofJson() {
  const kinds = [
    { kind: 'NONE', operations: [] },
    { kind: 'HIP_RUNTIME_API', operations: ['hipLaunchKernel', 'hipMemcpy'] },
    { kind: 'HSA_AMD_EXT_API', operations: ['hsa_amd_memory_async_copy'] },
    { kind: 'MARKER_CORE_API', operations: ['roctxMarkA', 'roctxRangePushA'] },
    { kind: 'KERNEL_DISPATCH', operations: ['NONE', 'COMPLETE'] },
    { kind: 'MEMORY_COPY', operations: ['NONE', 'HOST_TO_HOST', 'MEMORY_COPY_HOST_TO_DEVICE'] },
    {
      kind: 'MEMORY_ALLOCATION',
      operations: ['NONE', 'MEMORY_ALLOCATION_ALLOCATE', 'MEMORY_ALLOCATION_FREE']
    }
  ]
  const record = (kind: number, operation: number, internal: number, from: number, to: number) => ({
    size: 64,
    kind,
    operation,
    correlation_id: { internal, external: 0, ancestor: internal === 5 ? 4 : 0 },
    start_timestamp: 1_000_000 + from,
    end_timestamp: 1_000_000 + to,
    thread_id: 77
  })
  const info = (dispatch: number) => ({
    agent_id: { handle: 4_000_000_000 },
    queue_id: { handle: 1 },
    kernel_id: 1,
    dispatch_id: dispatch,
    private_segment_size: 0,
    group_segment_size: 1024,
    workgroup_size: { x: 256, y: 1, z: 1 },
    grid_size: { x: 77824, y: 2, z: 1 }
  })
  const dispatch = (id: number, internal: number, from: number, to: number) => ({
    ...record(4, 1, internal, from, to),
    dispatch_info: info(id),
    stream_id: { handle: 3 }
  })
  const counted = (id: number, internal: number, from: number, to: number) => ({
    thread_id: 77,
    dispatch_data: {
      ...record(4, 1, internal, from, to),
      dispatch_info: info(id)
    },
    records: [
      { counter_id: { handle: 12 }, value: 16 },
      { counter_id: { handle: 12 }, value: 8 }
    ]
  })
  return {
    'rocprofiler-sdk-tool': [
      {
        metadata: { pid: 5, command: ['/usr/bin/python3', 'train.py'] },
        agents: [
          { id: { handle: 1 }, type: 1, name: 'AMD EPYC', product_name: 'AMD EPYC' },
          {
            id: { handle: 4_000_000_000 },
            type: 2,
            name: 'gfx942',
            product_name: 'AMD Instinct MI300X',
            logical_node_type_id: 0,
            cu_count: 304,
            max_engine_clk_fcompute: 2100
          }
        ],
        counters: [{ id: { handle: 12 }, name: 'SQ_WAVES' }],
        strings: { buffer_records: kinds, marker_api: [{ key: 1, value: 'step' }] },
        kernel_symbols: [
          { kernel_id: 0 },
          {
            kernel_id: 1,
            formatted_kernel_name: 'gemm(float*)',
            kernel_name: '_Z4gemmPf.kd',
            arch_vgpr_count: 128,
            accum_vgpr_count: 0,
            sgpr_count: 32
          }
        ],
        callback_records: {
          counter_collection: [counted(1, 2, 2000, 4000), counted(2, 3, 5000, 6000)]
        },
        buffer_records: {
          kernel_dispatch: [dispatch(1, 2, 2000, 4000), dispatch(2, 3, 5000, 6000)],
          hip_api: [
            record(1, 0, 2, 100, 200),
            record(1, 0, 3, 300, 400),
            record(1, 1, 4, 1000, 1900)
          ],
          hsa_api: [record(2, 0, 6, 1100, 1200)],
          marker_api: [record(3, 1, 1, 0, 9000), record(3, 0, 8, 50, 50)],
          memory_copy: [
            {
              ...record(5, 2, 5, 1300, 1800),
              src_agent_id: { handle: 1 },
              dst_agent_id: { handle: 4_000_000_000 },
              bytes: 4096
            }
          ],
          memory_allocation: [
            { ...record(6, 1, 7, 7000, 7100), address: 32512, allocation_size: 4096 },
            { ...record(6, 2, 9, 7200, 7300), address: { value: 32512 }, allocation_size: 0 }
          ],
          scratch_memory: [{}],
          rccl_api: []
        }
      }
    ]
  }
}
