// The part of AMD SMI and of its predecessor ROCm SMI used here. Source: amdsmi.h of ROCm/amdsmi
// (ROCm 6.0 to 7.2) and rocm_smi.h of ROCm/rocm_smi_lib (ROCm 5.7 to 7.2); both give out one table
// of metrics, the Linux driver's gpu_metrics_v1 spread out, whose members keep their places up to
// `hbm_thm_residency_acc`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace blockscope::hip::smi {

using Processor = void*;  // amdsmi_processor_handle

constexpr uint64_t kInitGpus = 2;  // AMDSMI_INIT_AMD_GPUS

// amdsmi_gpu_metrics_t, rsmi_gpu_metrics_t: 4544 bytes in ROCm 7.2, less before. A member with all
// bits set is one that the GPU does not tell.
struct alignas(8) Metrics {
  char bytes[16384];

  template <typename T>
  T at(size_t offset) const {
    T value;
    std::memcpy(&value, bytes + offset, sizeof value);
    return value;
  }
  int formatRevision() const { return at<uint8_t>(2); }
  int contentRevision() const { return at<uint8_t>(3); }
  uint16_t edgeCelsius() const { return at<uint16_t>(4); }
  uint16_t hotspotCelsius() const { return at<uint16_t>(6); }
  uint16_t averageWatts() const { return at<uint16_t>(22); }
  uint64_t energy() const { return at<uint64_t>(24); }  // in kEnergyUnitJoules
  uint16_t currentMHz() const { return at<uint16_t>(54); }
  uint64_t throttleStatus() const { return at<uint64_t>(112); }  // revision 1.3
  uint16_t currentWatts() const { return at<uint16_t>(120); }    // revision 1.4
  // One for each XCD, revision 1.4.
  uint16_t currentMHzOf(int die) const { return at<uint16_t>(312 + 2 * die); }
  // Time spent held back since the driver was loaded, in ticks of its own, revision 1.6.
  uint64_t powerResidency() const { return at<uint64_t>(440); }
  // By heat of the socket, the regulators and the memory, and by PROCHOT.
  uint64_t heatResidency(int which) const { return at<uint64_t>(kHeatResidencies[which]); }
  static constexpr int kHeatResidencies[] = {432, 448, 456, 464};
};
constexpr int kDies = 8;
constexpr double kEnergyUnitJoules = 15.259e-6;

// Bits of throttleStatus, amdgpu's own order (Linux, amdgpu_smu.h, SMU_THROTTLER_*).
constexpr uint64_t kThrottledByPower = 0xff;            // PPT0 to SPPT_APU
constexpr uint64_t kThrottledByHeat = 0xffffull << 32;  // TEMP_GPU to PROCHOT_GFX

#define BLOCKSCOPE_AMDSMI_FUNCTIONS(X)                                                     \
  X(init, "amdsmi_init", int, (uint64_t))                                                  \
  X(processorFromBdf, "amdsmi_get_processor_handle_from_bdf", int, (uint64_t, Processor*)) \
  X(metricsInfo, "amdsmi_get_gpu_metrics_info", int, (Processor, Metrics*))

#define BLOCKSCOPE_ROCMSMI_FUNCTIONS(X)                        \
  X(init, "rsmi_init", int, (uint64_t))                        \
  X(deviceCount, "rsmi_num_monitor_devices", int, (uint32_t*)) \
  X(pciId, "rsmi_dev_pci_id_get", int, (uint32_t, uint64_t*))  \
  X(metricsInfo, "rsmi_dev_gpu_metrics_info_get", int, (uint32_t, Metrics*))

#define BLOCKSCOPE_MEMBER(member, symbol, result, parameters) result(*member) parameters = nullptr;
struct Api {
  BLOCKSCOPE_AMDSMI_FUNCTIONS(BLOCKSCOPE_MEMBER)
};
struct RocmApi {
  BLOCKSCOPE_ROCMSMI_FUNCTIONS(BLOCKSCOPE_MEMBER)
};
#undef BLOCKSCOPE_MEMBER

}  // namespace blockscope::hip::smi
