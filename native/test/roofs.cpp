// The limits of this CPU are measured for everything its kernels name.
#include "../cpu/roofs.h"

#include <cmath>
#include <map>

#include "../core/formats.h"
#include "../cpu/kernel.h"
#include "check.h"

using namespace blockscope;

namespace {

const CancelFlag kNever;

void everyInstructionOfAKernelHasARoof() {
  std::map<std::string, double> compute, memory;
  for (const Roof& roof : measureCpuRoofs(kNever, nullptr)) {
    CHECK(std::isfinite(roof.rate) && roof.rate > 1e8);
    CHECK(roof.basis == "measured" && !roof.source.empty());
    (roof.kind == "compute" ? compute : memory)[roof.of] = roof.rate;
  }
  for (const CpuKernel& kernel : cpuKernels()) {
    if (!kernel.available) continue;
    for (const BlockFormat& format : blockFormats())
      checkThat(compute.count(kernel.instruction(format)) == 1,
                kernel.id + " has no roof for " + kernel.instruction(format), __FILE__, __LINE__);
  }
  CHECK(memory.count("dram") == 1);
#ifndef __SANITIZE_ADDRESS__  // which may double the instructions of one loop and not another's
  // An instruction set that does four times the work of plain C++ in a register is not slower.
  for (const auto& [instruction, rate] : compute) CHECK(rate >= compute["fp64:portable"]);
#endif
  for (const auto& [name, rate] : compute)
    std::printf("%-18s %8.1f Gop/s\n", name.c_str(), rate / 1e9);
  for (const auto& [name, rate] : memory)
    std::printf("%-18s %8.1f GB/s\n", name.c_str(), rate / 1e9);
}

void measuringCanBeCancelled() {
  CancelFlag cancel;
  cancel.request();
  try {
    measureCpuRoofs(cancel, nullptr);
    CHECK(false);
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kCancelled);
  }
}

}  // namespace

int main() {
  everyInstructionOfAKernelHasARoof();
  measuringCanBeCancelled();
  return summary();
}
