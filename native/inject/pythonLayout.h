// Where CPython keeps the frames of a thread. Source: Include/cpython/pystate.h, code.h,
// frameobject.h and Include/internal/pycore_frame.h of CPython 3.9.18, 3.10.13, 3.11.7, 3.12.1 and
// 3.13.0, 64 bits with a GIL. A layout is fixed within a minor version; a process is checked
// against it all the same before anything is read (pythonFrames.cpp).
#pragma once

#include <cstddef>

namespace blockscope::inject {

struct PythonLayout {
  int minor;
  size_t frameOfThread;  // PyThreadState: its innermost frame, or the _PyCFrame that has it
  bool isInCFrame;
  size_t frameOfCFrame;
  size_t code, previous, instruction;  // of a frame
  size_t owner;                        // of a frame; 0: it has none
  // PyCodeObject's instructions, into which a frame points; 0: a frame has the index of one.
  size_t instructions;
  int bytesOfIndex;
  size_t fileName, name, firstLine;  // of PyCodeObject
};

constexpr PythonLayout kPythonLayouts[] = {
    {9, 24, false, 0, 32, 24, 104, 0, 0, 1, 104, 112, 40},
    {10, 24, false, 0, 32, 24, 96, 0, 0, 2, 104, 112, 40},
    {11, 56, true, 8, 32, 48, 56, 69, 184, 0, 112, 120, 72},
    {12, 56, true, 0, 0, 8, 56, 70, 192, 0, 112, 120, 68},
    {13, 72, false, 0, 0, 8, 56, 70, 200, 0, 112, 120, 68},
};

constexpr size_t kTypeOfObject = 8;      // PyObject::ob_type
constexpr char kFrameOwnedByCStack = 3;  // 3.12 on: a frame of the interpreter's own C code

}  // namespace blockscope::inject
