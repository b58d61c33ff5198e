// Who this process is: for people, and for programs of many ranks.
#pragma once

#include <string>

namespace blockscope::inject {

// A line of the shard: program, arguments, rank.
std::string processFacts();

// Whether --only means this process: the name of its program, or of the script that it runs. An
// empty name means every one.
bool isProgramNamed(const std::string& name);

}  // namespace blockscope::inject
