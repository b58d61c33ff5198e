// A problem's operands on the GPU in canonical form (one code per byte, linear scales), and the
// forms that kernels read, made there (resources/kernels/cuda/common/operands.cu).
#pragma once

#include <memory>

#include "../core/backend.h"
#include "../core/formats.h"
#include "../core/layouts.h"
#include "context.h"
#include "kernels.h"
#include "launch.h"

namespace blockscope::cuda {

enum class Matrix { kA, kB };

class DeviceOperands {
 public:
  // Generates them on the device: the bytes of docs/operands.md. Throws Error(kUsage) for an
  // unknown distribution.
  DeviceOperands(const DeviceContext&, const Kernels&, const Problem&, const GeneratedOperands&);
  // Copies them over.
  DeviceOperands(const DeviceContext&, const Kernels&, const Problem&, const Operands&);

  // Puts `code` in place of the scale at `index` of all the operand's, which it returns.
  uint8_t exchangeScale(OperandSide, int64_t index, uint8_t code);
  Operands download() const;
  // Product of the two per-tensor scales.
  float tensorScale() const { return tensorScaleA_ * tensorScaleB_; }
  const DeviceBuffer& codes(Matrix matrix) const { return side(matrix).codes; }
  const DeviceBuffer& scales(Matrix matrix) const { return side(matrix).scales; }
  // batch * M * N float32; empty where nothing is accumulated.
  const DeviceBuffer& accumulator() const { return accumulator_; }

  // What kernels read, into buffers of the right size. `packed` false: one code per byte. `order`:
  // kKn for a B of rows of N.
  void codesInto(Matrix, bool packed, BOrder order, DeviceBuffer&) const;
  // Each matrix of the batch, or each group, in the layout, one after the other; padding is 0.
  // `order` kKn turns linear scales alone: other layouts lie the same in both.
  void scalesInto(Matrix, const ScaleLayout&, BOrder order, DeviceBuffer&) const;
  void accumulatorInto(DeviceBuffer&) const;
  // Element times scale, rounded to bf16.
  void bf16Into(Matrix, DeviceBuffer&) const;
  // Element times scale over one float32 scale that puts the largest on 448, rounded to e4m3.
  void oneScaleInto(Matrix, DeviceBuffer& codes, DeviceBuffer& scale) const;

 private:
  struct Side {
    int elementFormat = 0;
    int64_t matrices = 0, rows = 0;  // rows of all matrices
    DeviceBuffer codes, scales;      // no scales of elements that carry none
    const NumberFormat& element() const {
      return numberFormat(static_cast<NumberFormatId>(elementFormat));
    }
  };
  DeviceOperands(const DeviceContext&, std::shared_ptr<const Module>, const Problem&);
  void upload(const Operands&);
  const Side& side(Matrix matrix) const { return matrix == Matrix::kA ? a_ : b_; }
  void generate(Side&, int distribution, uint64_t seed, int codeStream, int scaleStream);
  void generateAccumulator(const GeneratedOperands&);
  // Padding rows of groups, with what docs/operands.md has there.
  void poisonPadding() const;
  // Scales of segments of one size in the layout, one after the other; the address behind them.
  driver::DevicePointer packSegments(const Side&, const std::vector<Segment>&, const ScaleLayout&,
                                     driver::DevicePointer to) const;
  // Every matrix of `matrices`, rows x columns codes of one byte, as columns x rows of `bits` each.
  void turn(const DeviceBuffer& from, int64_t matrices, int64_t rows, int64_t columns, int bits,
            DeviceBuffer& to) const;
  void copy(const DeviceBuffer& from, DeviceBuffer& to) const;
  // One thread for each of `count` things.
  void run(const char* function, int64_t count, std::vector<LaunchArgument> arguments) const;

  const DeviceContext& context_;
  Problem problem_;
  int scaleFormat_ = 0;
  int64_t scaleBlockSize_ = 0;
  Side a_, b_;
  DeviceBuffer accumulator_;
  float tensorScaleA_ = 1, tensorScaleB_ = 1;
  std::shared_ptr<const Module> module_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace blockscope::cuda
