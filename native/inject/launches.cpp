#include "launches.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "calls.h"
#include "clock.h"
#include "json.h"
#include "launchWindow.h"
#include "session.h"

namespace blockscope::inject {

namespace {

constexpr size_t kMostNodes = 4 << 20;

constexpr uint8_t kNoCall = 0xff;
// What each driver function is, as CallKind; filled before callbacks come.
std::array<uint8_t, cupti::kMostCallbackIds> kindOfCall;

// Whether the call that this thread is in only adds to a graph.
thread_local bool onlyAdds = false;
thread_local void* lastContext = nullptr;

// "cuLaunchHostFunc" runs on the CPU; the suffixes of versions and of per-thread streams vary.
uint8_t kindOfName(std::string_view name) {
  const auto begins = [&](std::string_view start) { return name.substr(0, start.size()) == start; };
  const auto kind = [](CallKind value) { return static_cast<uint8_t>(value); };
  if (begins("cuLaunchHostFunc")) return kNoCall;
  if (begins("cuGraphLaunch")) return kind(CallKind::kGraph);
  if (begins("cuLaunch")) return kind(CallKind::kKernel);
  if (begins("cuMemcpy")) return kind(CallKind::kCopy);
  if (begins("cuMemset")) return kind(CallKind::kSet);
  return kNoCall;
}

void noteContext(Session& mine, void* context) {
  if (context == lastContext || context == nullptr) return;
  lastContext = context;
  const std::lock_guard guard(mine.lock);
  auto& known = mine.contexts;
  if (std::find(known.begin(), known.end(), context) == known.end()) known.push_back(context);
}

uint32_t executableOf(Session& mine, const cupti::CallbackData& call) {
  // cuGraphLaunch_params: the executable comes first.
  void* executable = *static_cast<void* const*>(call.functionParams);
  uint32_t id = 0;
  return mine.cupti.getGraphExecId(executable, &id) == cupti::kSuccess ? id : 0;
}

void countNodes(Session& mine, uint32_t executable) {
  const std::lock_guard guard(mine.lock);
  const auto found = mine.graphs.find(executable);
  if (found == mine.graphs.end()) return;
  mine.count(graphKernels, found->second.kernels);
  mine.count(graphCopies, found->second.copies);
  mine.count(graphSets, found->second.sets);
}

void onCall(Session& mine, uint32_t id, const cupti::CallbackData& call) {
  if (id >= kindOfCall.size() || kindOfCall[id] == kNoCall) return;
  const auto kind = static_cast<CallKind>(kindOfCall[id]);
  if (call.site == cupti::kSiteEnter) {
    beginCall();
    onlyAdds = false;
    const bool isTaken = mine.takesLaunches();
    // Marked before the device can have run it: a record may be there ahead of the call's end.
    launchWindow.mark(call.correlationId, isTaken);
    *call.correlationData = isTaken ? realTimeNs() : 0;
    noteContext(mine, call.context);
    // Last: until the end of the call, others that launch wait.
    if (isTaken && kind == CallKind::kKernel && mine.counters.isAsked())
      mine.counters.begin(mine, call);
    return;
  }
  const uint64_t start = *call.correlationData;
  const int result =
      call.functionReturnValue ? *static_cast<const int*>(call.functionReturnValue) : 0;
  if (start != 0 && kind == CallKind::kKernel && mine.counters.isAsked())
    mine.counters.end(mine, call, result != 0);
  const uint32_t path = start == 0 ? 0 : currentPath(mine);
  endCall();
  if (start == 0) return;
  LaunchRecord record{};
  record.startNs = start;
  record.correlation = call.correlationId;
  record.path = path;
  record.kind = kind;
  record.flags =
      static_cast<uint8_t>((result != 0 ? kCallFailed : 0) | (onlyAdds ? kCallCaptured : 0));
  if (kind == CallKind::kGraph) record.graph = executableOf(mine, call);
  if (kind == CallKind::kGraph && record.flags == 0) countNodes(mine, record.graph);
  addCall(mine, record, call.functionName);
}

// The node's number is that of its kernel's records; a clone has the path of what it was cloned
// from.
void onNode(Session& mine, uint32_t id, const cupti::GraphData& graph) {
  uint64_t node = 0;
  if (mine.cupti.getGraphNodeId(graph.node, &node) != cupti::kSuccess) return;
  if (id == cupti::kGraphNodeCreated) {
    if (isInCall()) onlyAdds = true;
    const uint32_t path = currentPath(mine);
    const std::lock_guard guard(mine.lock);
    if (mine.nodes.size() >= kMostNodes) return mine.count(forgottenNodes);
    // Clones are created too: what cloning said of them stays.
    mine.nodes.try_emplace(node, path);
    return;
  }
  uint64_t original = 0;
  uint32_t graphId = 0;
  if (mine.cupti.getGraphNodeId(graph.originalNode, &original) != cupti::kSuccess ||
      mine.cupti.getGraphId(graph.graph, &graphId) != cupti::kSuccess)
    return;
  const std::lock_guard guard(mine.lock);
  GraphContent& content = mine.graphs[graphId];
  if (graph.nodeType == cupti::kNodeKernel) content.kernels++;
  if (graph.nodeType == cupti::kNodeCopy) content.copies++;
  if (graph.nodeType == cupti::kNodeSet) content.sets++;
  if (mine.nodes.size() >= kMostNodes) return mine.count(forgottenNodes);
  const auto found = mine.nodes.find(original);
  const uint32_t path = found == mine.nodes.end() ? 0 : found->second;
  mine.nodes[node] = path;
  mine.shard.text(
      JsonLine().wide("node", node).number("path", path).number("graph", graphId).take());
}

struct StateData {  // CUpti_StateData of a notification
  int result;
  const char* message;
};

}  // namespace

void onCallback(void*, int domain, uint32_t id, const void* data) noexcept {
  Session& mine = session();
  if (!mine.isCaptured() || data == nullptr) return;
  try {
    if (domain == cupti::kDomainDriver) {
      onCall(mine, id, *static_cast<const cupti::CallbackData*>(data));
    } else if (domain == cupti::kDomainSynchronize) {
      if (mine.isRecording) onSynchronised(mine);
    } else if (domain == cupti::kDomainState) {
      const auto* state = static_cast<const StateData*>(data);
      const std::lock_guard guard(mine.lock);
      mine.shard.text(JsonLine()
                          .number("cuptiState", state->result)
                          .text("message", state->message ? state->message : "")
                          .take());
    } else if (domain == cupti::kDomainResource) {
      const auto* resource = static_cast<const cupti::ResourceData*>(data);
      if (id == cupti::kContextDestroyStarting) {
        mine.counters.forgetContext(resource->context);
        const std::lock_guard guard(mine.lock);
        std::erase(mine.contexts, resource->context);
      } else if (resource->descriptor != nullptr) {
        onNode(mine, id, *static_cast<const cupti::GraphData*>(resource->descriptor));
      }
    }
  } catch (...) {
    // Out of memory: the program is not to end for its profile.
  }
}

int enableCallbacks() {
  Session& mine = session();
  kindOfCall.fill(kNoCall);
  // A version knows fewer ids than asked for; it names none that it does not know.
  for (uint32_t id = 1; id < kindOfCall.size(); id++) {
    const char* name = nullptr;
    if (mine.cupti.getCallbackName(cupti::kDomainDriver, id, &name) != cupti::kSuccess || !name)
      continue;
    kindOfCall[id] = kindOfName(name);
    if (kindOfCall[id] == kNoCall) continue;
    const int error = mine.cupti.enableCallback(1, mine.subscriber, cupti::kDomainDriver, id);
    if (error != cupti::kSuccess) return error;
  }
  for (const uint32_t id :
       {cupti::kGraphNodeCreated, cupti::kGraphNodeCloned, cupti::kContextDestroyStarting})
    if (const int error = mine.cupti.enableCallback(1, mine.subscriber, cupti::kDomainResource, id))
      return error;
  // Older versions have no domain of states.
  mine.cupti.enableDomain(1, mine.subscriber, cupti::kDomainState);
  return mine.cupti.enableDomain(1, mine.subscriber, cupti::kDomainSynchronize);
}

}  // namespace blockscope::inject
