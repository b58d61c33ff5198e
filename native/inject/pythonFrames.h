// The Python frames of the calling thread, by the interpreter that the process has, and without the
// GIL: programs release it before they launch (PyTorch, Triton and ctypes do), and taking it in a
// callback can deadlock. The frames of a thread stand still while it is within a call from them;
// nothing is changed or counted in them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace blockscope::inject {

struct PythonFrame {
  const void* code;  // PyCodeObject
  int32_t offset;    // of the instruction in it, bytes
};

class PythonFrames {
 public:
  // Looks for the interpreter: once, ahead of all else.
  void find();
  // Whether it is known by now if there are frames: not before a thread with Python was seen.
  bool isDecided() const { return trust_ != Trust::kUnchecked; }
  const std::string& version() const { return version_; }
  // Why there are none, as a sentence; empty where there are.
  std::string missing() const;

  // Up to `most` frames of this thread, innermost first; none where it runs no Python.
  size_t walk(PythonFrame* frames, size_t most);
  // Changes with the frames and what their code is: an address is used again by other code.
  uint64_t hash(const PythonFrame* frames, size_t count) const;
  // "train.py:12@step", with the file as Python names it: Proton's form.
  std::string nameOf(const PythonFrame& frame) const;

 private:
  enum class Trust { kNone, kUnchecked, kChecked };
  const void* innermost() const;
  bool isLayoutRight(const void* frame);
  std::string text(const void* object) const;

  const struct PythonLayout* layout_ = nullptr;
  std::string version_, missing_;
  std::atomic<Trust> trust_{Trust::kNone};
  const void* codeType_ = nullptr;
  const void* textType_ = nullptr;
  void* (*getThreadState_)() = nullptr;
  int (*addressToLine_)(const void*, int) = nullptr;
  ptrdiff_t (*lengthOf_)(const void*) = nullptr;
  uint32_t (*characterOf_)(const void*, ptrdiff_t) = nullptr;
};

}  // namespace blockscope::inject
