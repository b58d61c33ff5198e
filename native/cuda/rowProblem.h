// What a manifest's row makes of a problem, on any GPU: its variables and macros, what it does
// itself and what passes do, in which parts, and how many bytes its operands have.
#pragma once

#include <string>
#include <vector>

#include "../core/backend.h"
#include "../core/formats.h"
#include "expression.h"

namespace blockscope::cuda {

// What expressions may ask of the device.
struct DeviceSize {
  int multiprocessors = 1;
  int64_t memoryGBs = 0;  // 10^9 bytes a second, by its memory's clock and bus; 0: not known
};
// The names expressions may use for this problem on this device, the row's constants among them.
Variables problemVariables(const KernelRow&, const Problem&, const DeviceSize&);
// Macros of resources/kernels/cuda/README.md for one format and output type, the row's constants
// and options.
std::vector<std::string> compileOptions(const KernelRow&, const Problem&);
// What the kernel itself is compiled for: passes before and behind it do what it does not. A batch
// that a kernel for groups does in one launch is groups here.
Problem ownProblem(const KernelRow&, const Problem&);
// Whether a pass makes C of the kernel's float32 product.
bool isFinished(const KernelRow&, const Problem&);
// Whether one round of its launches does all groups; else there is one for each.
bool doesAllGroups(const KernelRow&, const Problem&);
// The sentence of the first requirement that does not hold, or why the output type cannot be
// written; empty: all hold.
std::string whyUnsupported(const KernelRow&, const Problem&, const Variables&);

// What one round of the row's launches computes: a matrix of C, a group, or all of them at once.
struct Part {
  Product product;
  Variables variables;
  int64_t scalesA = 0;  // bytes before its scales of A
};
std::vector<Part> partsOf(const KernelRow&, const Problem&, const DeviceSize&);
// Bytes of a workspace that are cleared before part `index`: none where the part has none of it.
int64_t bytesClearedBefore(const Part&, size_t index, const WorkspaceRow&);

// First row and rows of each group of a problem that has some, as a kernel that finds them reads
// them.
struct GroupTables {
  std::vector<int32_t> starts, rows;
};
GroupTables groupTablesOf(const Problem&);

// Of `count` codes, and of the scales of `rows` rows, as the row wants them; of all scales of A.
int64_t codeBytes(const KernelRow&, const NumberFormat&, int64_t count);
int64_t scaleBytes(const KernelRow&, const Problem&, int64_t rows);
int64_t scaleBytesOfA(const KernelRow&, const Problem&);

}  // namespace blockscope::cuda
