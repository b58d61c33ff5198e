// Memory that one operation after the other reuses: fresh pages would cost a tenth of a fast
// product's time.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

namespace blockscope {

// Grows, never shrinks; what it holds is undefined after every take().
class ScratchBuffer {
 public:
  template <typename Number>
  Number* take(int64_t count) {
    const int64_t wanted = count * static_cast<int64_t>(sizeof(Number));
    if (wanted > bytes_) {
      memory_.reset();
      bytes_ = 0;
      memory_.reset(static_cast<uint8_t*>(::operator new(static_cast<size_t>(wanted), kAlignment)));
      bytes_ = wanted;
    }
    return reinterpret_cast<Number*>(memory_.get());
  }

 private:
  // A cache line, and the widest vector.
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(uint8_t* memory) const { ::operator delete(memory, kAlignment); }
  };
  std::unique_ptr<uint8_t, Free> memory_;
  int64_t bytes_ = 0;
};

// The buffers of one kernel call; not for two calls at once.
struct Workspace {
  ScratchBuffer a, b, aScales, bScales, aBias;
  ScratchBuffer turnedCodes, turnedScales;  // of B as (K, N)
};

}  // namespace blockscope
