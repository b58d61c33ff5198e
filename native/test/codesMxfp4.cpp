// wgmma's product of codes in mxfp4.
#define A_FORMAT 0
#define B_FORMAT 0
#define SCALE_FORMAT 5
#define SCALE_BLOCK 32
#include "groupsOfCodes.h"

int main() {
  checkProduct();
  checkMistakes();
  // The smallest and largest scales that bf16 takes, and one beyond on either side.
  for (const auto& [scale, isBeyond] :
       {std::pair{14, false}, {244, false}, {13, true}, {245, true}})
    for (const int at : {5, 290}) {
      const Groups one = {GroupLayout::kOffsets, {3}, 1, 0};
      const auto spoil = [scale = scale, at](ScaledMatrix&, ScaledMatrix& b) {
        b.scales[at] = scale;
      };
      CHECK(outcome(one, 37, 256, Mistake::kNone, spoil).isBeyond == isBeyond);
      if (!isBeyond) isRight(one, 37, 256, spoil);
    }
  return summary();
}
