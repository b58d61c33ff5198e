#pragma once

#include "common/types.cuh"

// A ring of stages, all of them or the first: which stage is next and which phase of its barriers.
template <int Stages>
struct RingPosition {
  int stage = 0;
  u32 phase = 0;
  // By as many at a time, of which `stages` are a multiple.
  template <int By = 1>
  LANE_CODE void advance(int stages = Stages) {
    if (By == 1 ? ++stage == stages : (stage += By) >= stages) {
      stage = By == 1 ? 0 : stage - stages;
      phase ^= 1;
    }
  }
};
