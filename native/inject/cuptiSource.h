// CUPTI as the source of records: callbacks of launches, activity records of what ran.
#pragma once

#include "recordSource.h"

namespace blockscope::inject {

RecordSource& cuptiSource();

}  // namespace blockscope::inject
