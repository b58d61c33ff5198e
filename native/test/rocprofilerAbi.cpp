// What native/inject writes down of rocprofiler-sdk against its headers, where ROCm is installed.
#include "check.h"

#if __has_include(<rocprofiler-sdk/rocprofiler.h>)
#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/registration.h>

#include <type_traits>

#include "../inject/rocprofilerAbi.h"

namespace abi = blockscope::inject::rocprofiler;

#define SAME(mine, theirs) static_assert(static_cast<int>(mine) == static_cast<int>(theirs))
#define SAME_PLACE(mine, member, theirs, their_member) \
  static_assert(offsetof(mine, member) == offsetof(theirs, their_member))

SAME(abi::kSuccess, ROCPROFILER_STATUS_SUCCESS);
SAME(abi::kBufferBusy, ROCPROFILER_STATUS_ERROR_BUFFER_BUSY);
SAME(abi::kHipRuntimeCalls, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API);
SAME(abi::kMarkerCalls, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API);
SAME(abi::kCodeObjects, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT);
SAME(abi::kDispatchCalls, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH);
SAME(abi::kTracingRecords, ROCPROFILER_BUFFER_CATEGORY_TRACING);
SAME(abi::kCopyRecords, ROCPROFILER_BUFFER_TRACING_MEMORY_COPY);
SAME(abi::kDispatchRecords, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH);
SAME(abi::kPhaseEnter, ROCPROFILER_CALLBACK_PHASE_ENTER);
SAME(abi::kPhaseExit, ROCPROFILER_CALLBACK_PHASE_EXIT);
SAME(abi::kKernelSymbol, ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER);
SAME(abi::kEnqueue, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE);
SAME(abi::kHostToHost, ROCPROFILER_MEMORY_COPY_HOST_TO_HOST);
SAME(abi::kHostToDevice, ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE);
SAME(abi::kDeviceToHost, ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST);
SAME(abi::kDeviceToDevice, ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE);
SAME(abi::kLossless, ROCPROFILER_BUFFER_POLICY_LOSSLESS);
SAME(abi::kAgentGpu, ROCPROFILER_AGENT_TYPE_GPU);
SAME(abi::kAgentInfo, ROCPROFILER_AGENT_INFO_VERSION_0);

// The two forms differ by the ancestor alone.
constexpr bool kHasAncestor = sizeof(rocprofiler_correlation_id_t) == sizeof(abi::Correlation);
static_assert(kHasAncestor ||
              sizeof(rocprofiler_correlation_id_t) == sizeof(abi::CorrelationBefore1));
using Record = abi::CallbackRecord<
    std::conditional_t<kHasAncestor, abi::Correlation, abi::CorrelationBefore1>>;
static_assert(sizeof(Record) == sizeof(rocprofiler_callback_tracing_record_t));
SAME_PLACE(Record, kind, rocprofiler_callback_tracing_record_t, kind);
SAME_PLACE(Record, operation, rocprofiler_callback_tracing_record_t, operation);
SAME_PLACE(Record, phase, rocprofiler_callback_tracing_record_t, phase);
SAME_PLACE(Record, payload, rocprofiler_callback_tracing_record_t, payload);

static_assert(sizeof(abi::RecordHeader) == sizeof(rocprofiler_record_header_t));
SAME_PLACE(abi::RecordHeader, payload, rocprofiler_record_header_t, payload);

using Dispatch = rocprofiler_buffer_tracing_kernel_dispatch_record_t;
SAME_PLACE(abi::DispatchRecord, correlation, Dispatch, correlation_id);
SAME_PLACE(abi::DispatchRecord, thread, Dispatch, thread_id);
SAME_PLACE(abi::DispatchRecord, start, Dispatch, start_timestamp);
SAME_PLACE(abi::DispatchRecord, end, Dispatch, end_timestamp);
SAME_PLACE(abi::DispatchRecord, info, Dispatch, dispatch_info);
using Info = rocprofiler_kernel_dispatch_info_t;
SAME_PLACE(abi::DispatchInfo, agent, Info, agent_id);
SAME_PLACE(abi::DispatchInfo, queue, Info, queue_id);
SAME_PLACE(abi::DispatchInfo, kernel, Info, kernel_id);
SAME_PLACE(abi::DispatchInfo, dispatch, Info, dispatch_id);
SAME_PLACE(abi::DispatchInfo, privateSegment, Info, private_segment_size);
SAME_PLACE(abi::DispatchInfo, groupSegment, Info, group_segment_size);
SAME_PLACE(abi::DispatchInfo, workgroup, Info, workgroup_size);
SAME_PLACE(abi::DispatchInfo, grid, Info, grid_size);
SAME_PLACE(abi::DispatchCall, info, rocprofiler_callback_tracing_kernel_dispatch_data_t,
           dispatch_info);

using Copy = rocprofiler_buffer_tracing_memory_copy_record_t;
SAME_PLACE(abi::CopyRecord, operation, Copy, operation);
SAME_PLACE(abi::CopyRecord, correlation, Copy, correlation_id);
SAME_PLACE(abi::CopyRecord, start, Copy, start_timestamp);
SAME_PLACE(abi::CopyRecord, end, Copy, end_timestamp);
SAME_PLACE(abi::CopyRecord, target, Copy, dst_agent_id);
SAME_PLACE(abi::CopyRecord, source, Copy, src_agent_id);
SAME_PLACE(abi::CopyRecord, bytes, Copy, bytes);

using Symbol = rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t;
SAME_PLACE(abi::KernelSymbol, kernel, Symbol, kernel_id);
SAME_PLACE(abi::KernelSymbol, name, Symbol, kernel_name);
SAME_PLACE(abi::KernelSymbol, groupSegment, Symbol, group_segment_size);
SAME_PLACE(abi::KernelSymbol, vectorRegisters, Symbol, arch_vgpr_count);
SAME_PLACE(abi::KernelSymbol, accumulationRegisters, Symbol, accum_vgpr_count);

using Hip = rocprofiler_callback_tracing_hip_api_data_t;
static_assert(sizeof(Hip) - offsetof(Hip, retval) == abi::kHipResultBytes);
SAME_PLACE(abi::MarkerCall, message, rocprofiler_callback_tracing_marker_api_data_t, args);

static_assert(sizeof(abi::Agent) <= sizeof(rocprofiler_agent_v0_t));
SAME_PLACE(abi::Agent, id, rocprofiler_agent_v0_t, id);
SAME_PLACE(abi::Agent, type, rocprofiler_agent_v0_t, type);
SAME_PLACE(abi::Agent, computeUnits, rocprofiler_agent_v0_t, cu_count);
SAME_PLACE(abi::Agent, gfxVersion, rocprofiler_agent_v0_t, gfx_target_version);
SAME_PLACE(abi::Agent, gpuClockMhz, rocprofiler_agent_v0_t, max_engine_clk_fcompute);
SAME_PLACE(abi::Agent, gpu, rocprofiler_agent_v0_t, gpu_id);
SAME_PLACE(abi::Agent, name, rocprofiler_agent_v0_t, name);
SAME_PLACE(abi::Agent, productName, rocprofiler_agent_v0_t, product_name);
SAME_PLACE(abi::Agent, logicalNodeOfType, rocprofiler_agent_v0_t, logical_node_type_id);

static_assert(sizeof(abi::ConfigureResult) == sizeof(rocprofiler_tool_configure_result_t));
SAME_PLACE(abi::ConfigureResult, finalize, rocprofiler_tool_configure_result_t, finalize);
int main() {
  CHECK(sizeof(abi::DispatchRecord) < sizeof(Dispatch));
  return summary();
}
#else
int main() {
  std::printf("no rocprofiler-sdk headers on this machine: nothing to compare\n");
  return summary();
}
#endif
