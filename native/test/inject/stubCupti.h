// Between the stand-ins of driver and CUPTI: what a real driver tells CUPTI within itself.
#pragma once

#include <cstdint>

struct StubGraph {
  uint32_t id;
};
struct StubNode {
  uint64_t id;
  int type;  // CUgraphNodeType
};

struct StubWork {
  int kind;  // CUpti_ActivityKind
  const char* name;
  uint32_t grid[3], block[3];
  uint32_t stream;
  uint64_t durationNs, bytes, node;
  uint32_t graph;
};

using StubCallBody = int (*)(uint32_t correlation, void* user);

struct StubCupti {
  // Calls back before and after the body, as far as somebody subscribed.
  int (*call)(const char* function, const char* symbol, const void* params, StubCallBody body,
              void* user);
  // The device takes up the work, after what its stream has.
  void (*run)(uint32_t correlation, const StubWork& work);
  void (*node)(bool isClone, StubGraph& graph, StubNode& node, StubNode* original);
  // Sleeps until the device is idle, then calls back.
  void (*synchronise)();
};

// Exported by the stand-in of CUPTI; the stand-in of the driver asks for it at each call.
extern "C" const StubCupti* stubCupti();
