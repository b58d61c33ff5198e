#pragma once

#include "common/types.cuh"

// A ring of stages, all of them or the first: which stage is next and which phase of its barriers.
template <int Stages>
struct RingPosition {
  int stage = 0;
  u32 phase = 0;
  LANE_CODE void advance(int stages = Stages) {
    if (++stage == stages) {
      stage = 0;
      phase ^= 1;
    }
  }
};
