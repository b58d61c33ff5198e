#pragma once

#include "common/types.cuh"

// A ring of stages: which stage is next and which phase of its barriers.
template <int Stages>
struct RingPosition {
  int stage = 0;
  u32 phase = 0;
  LANE_CODE void advance() {
    if (++stage == Stages) {
      stage = 0;
      phase ^= 1;
    }
  }
};
