// What a GPU's driver or a library beside it made, given back once.

#pragma once

#include <utility>

namespace blockscope {

// A handle or an address that `release` gives back exactly once, however a constructor ends; not
// after the device was lost. Owner: what knows whether it is: `bool lost() const`.
template <typename T, typename Owner>
class Owned {
 public:
  using Release = int (*)(T);
  Owned() = default;
  Owned(const Owner& owner, Release release) : owner_(&owner), release_(release) {}
  ~Owned() {
    if (value_ && !owner_->lost()) release_(value_);
  }
  Owned(Owned&& other) noexcept { *this = std::move(other); }
  Owned& operator=(Owned&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(release_, other.release_);
    std::swap(value_, other.value_);
    return *this;
  }

  const Owner& owner() const { return *owner_; }
  T get() const { return value_; }
  // Calls `create` with the place it writes to; what it answers. Owned when that is success, 0.
  template <typename Create>
  int make(const Create& create) {
    T made{};
    const int result = create(&made);
    if (result == 0) value_ = made;
    return result;
  }

 private:
  const Owner* owner_ = nullptr;
  Release release_ = nullptr;
  T value_{};
};

}  // namespace blockscope
