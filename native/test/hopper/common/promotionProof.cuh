// In place of resources/kernels/cuda/common/promotionProof.cuh: nothing is proved.
#pragma once

constexpr int kLongestInterval = 256;
