// Formats, layouts and packings as the native side knows them, for the tests that hold them against
// those of src-shared.
#pragma once

#include <napi.h>

namespace blockscope {

void addAgreement(Napi::Object exports);

}  // namespace blockscope
