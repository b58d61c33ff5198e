#include "pythonFrames.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "pythonLayout.h"
#include "utf8.h"

namespace blockscope::inject {

namespace {

constexpr size_t kMostChecked = 64;  // frames; what is beyond lies as these do

template <typename Value>
Value at(const void* object, size_t offset) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(object) + offset, sizeof value);
  return value;
}

// As `at`, of memory that may not be there.
template <typename Value>
bool isReadable(const void* object, size_t offset, Value& value) {
  const iovec here{&value, sizeof value};
  const iovec there{const_cast<char*>(static_cast<const char*>(object) + offset), sizeof value};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(sizeof value);
}

// An interpreter that the program loaded for itself alone is in no global scope.
void* embeddedPython() {
  const char* found = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* user) {
        if (object->dlpi_name == nullptr || !std::strstr(object->dlpi_name, "/libpython3"))
          return 0;
        *static_cast<const char**>(user) = object->dlpi_name;
        return 1;
      },
      &found);
  return found == nullptr ? nullptr : dlopen(found, RTLD_NOW | RTLD_NOLOAD);
}

}  // namespace

void PythonFrames::find() {
  void* from = RTLD_DEFAULT;
  const auto look = [&](const char* name) { return dlsym(from, name); };
  if (look("Py_GetVersion") == nullptr) from = embeddedPython();
  const auto getVersion = reinterpret_cast<const char* (*)()>(look("Py_GetVersion"));
  if (getVersion == nullptr) {
    missing_ = "there is no Python in this process.";
    return;
  }
  const std::string said = getVersion();
  const std::string number = said.substr(0, said.find(' '));
  int major = 0, minor = 0;
  std::sscanf(said.c_str(), "%d.%d", &major, &minor);
  for (const PythonLayout& layout : kPythonLayouts)
    if (major == 3 && layout.minor == minor) layout_ = &layout;
  if (layout_ == nullptr || said.find("free-threading") != std::string::npos) {
    missing_ = "Python " + number + (layout_ ? " without a GIL" : "") +
               " is not known here: CPython 3.9 to 3.13 with one is.";
    return;
  }
  codeType_ = look("PyCode_Type");
  textType_ = look("PyUnicode_Type");
  getThreadState_ =
      reinterpret_cast<decltype(getThreadState_)>(look("PyGILState_GetThisThreadState"));
  addressToLine_ = reinterpret_cast<decltype(addressToLine_)>(look("PyCode_Addr2Line"));
  lengthOf_ = reinterpret_cast<decltype(lengthOf_)>(look("PyUnicode_GetLength"));
  characterOf_ = reinterpret_cast<decltype(characterOf_)>(look("PyUnicode_ReadChar"));
  if (!codeType_ || !textType_ || !getThreadState_ || !addressToLine_ || !lengthOf_ ||
      !characterOf_) {
    missing_ = "Python " + number + " does not export what its frames are read with.";
    return;
  }
  if (char probe = 0; !isReadable(&probe, 0, probe)) {
    missing_ =
        "the system lets no process read itself by process_vm_readv, which frames are "
        "checked by.";
    return;
  }
  version_ = number;
  trust_ = Trust::kUnchecked;
}

std::string PythonFrames::missing() const {
  if (!missing_.empty() || trust_ == Trust::kChecked) return missing_;
  if (trust_ == Trust::kUnchecked) return "no thread that ran Python launched anything.";
  return "the frames of Python " + version_ + " do not lie where that version has them.";
}

const void* PythonFrames::innermost() const {
  const bool isTrusted = trust_ == Trust::kChecked;
  const auto pointer = [&](const void* object, size_t offset) {
    const void* value = nullptr;
    if (object == nullptr) return value;
    if (isTrusted) return at<const void*>(object, offset);
    return isReadable(object, offset, value) ? value : nullptr;
  };
  const void* frame = pointer(getThreadState_(), layout_->frameOfThread);
  return layout_->isInCFrame ? pointer(frame, layout_->frameOfCFrame) : frame;
}

// Before the layout is trusted: every code has the type of code and is called by texts.
bool PythonFrames::isLayoutRight(const void* frame) {
  for (size_t count = 0; frame != nullptr && count < kMostChecked; count++) {
    const void *code = nullptr, *type = nullptr, *name = nullptr;
    char owner = 0;
    if (layout_->owner != 0 && !isReadable(frame, layout_->owner, owner)) return false;
    if (!isReadable(frame, layout_->code, code)) return false;
    if (owner != kFrameOwnedByCStack) {
      if (code == nullptr || !isReadable(code, kTypeOfObject, type) || type != codeType_)
        return false;
      for (const size_t text : {layout_->fileName, layout_->name})
        if (!isReadable(code, text, name) || name == nullptr ||
            !isReadable(name, kTypeOfObject, type) || type != textType_)
          return false;
    }
    if (!isReadable(frame, layout_->previous, frame)) return false;
  }
  return true;
}

size_t PythonFrames::walk(PythonFrame* frames, size_t most) {
  if (trust_ == Trust::kNone) return 0;
  const void* frame = innermost();
  if (frame == nullptr) return 0;
  if (trust_ == Trust::kUnchecked) {
    trust_ = isLayoutRight(frame) ? Trust::kChecked : Trust::kNone;
    if (trust_ == Trust::kNone) return 0;
  }
  size_t count = 0;
  for (; frame != nullptr && count < most; frame = at<const void*>(frame, layout_->previous)) {
    if (layout_->owner != 0 && at<char>(frame, layout_->owner) == kFrameOwnedByCStack) continue;
    const void* code = at<const void*>(frame, layout_->code);
    if (code == nullptr || at<const void*>(code, kTypeOfObject) != codeType_) continue;
    const int32_t offset =
        layout_->instructions == 0
            ? at<int>(frame, layout_->instruction) * layout_->bytesOfIndex
            : static_cast<int32_t>(at<const char*>(frame, layout_->instruction) -
                                   (static_cast<const char*>(code) + layout_->instructions));
    frames[count++] = {code, offset};
  }
  return count;
}

uint64_t PythonFrames::hash(const PythonFrame* frames, size_t count) const {
  uint64_t hash = count;
  const auto mix = [&](uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  };
  for (size_t i = 0; i < count; i++) {
    const auto& [code, offset] = frames[i];
    mix(reinterpret_cast<uintptr_t>(code));
    mix(static_cast<uint32_t>(offset) | uint64_t{at<uint32_t>(code, layout_->firstLine)} << 32);
    mix(at<uintptr_t>(code, layout_->name) ^ at<uintptr_t>(code, layout_->fileName) << 16);
  }
  return hash;
}

// PyUnicode_AsUTF8 may allocate, which needs the GIL.
std::string PythonFrames::text(const void* object) const {
  std::string text;
  const ptrdiff_t length = lengthOf_(object);
  for (ptrdiff_t i = 0; i < length; i++) appendUtf8(text, characterOf_(object, i));
  return text;
}

std::string PythonFrames::nameOf(const PythonFrame& frame) const {
  int line = addressToLine_(frame.code, frame.offset);
  // An instruction that belongs to no line.
  if (line <= 0) line = at<int>(frame.code, layout_->firstLine);
  return text(at<const void*>(frame.code, layout_->fileName)) + ":" + std::to_string(line) + "@" +
         text(at<const void*>(frame.code, layout_->name));
}

}  // namespace blockscope::inject
