// What every kernel for few rows of A must do: products of any shape on any number of CTAs, zeros
// and numbers that may be lost, and the machine's mistakes are seen. Included behind the kernel.
#pragma once

#include "decodeProduct.h"

namespace {

Product across(int ctas, Product product) {
  product.across = ctas;
  return product;
}

Product restFirst(Product product) {
  product.restFirst = true;
  return product;
}

Product ofDepth(int depth, Product product) {
  product.depth = depth;
  return product;
}

Product prepared(Product product) {
  product.mayBeAlone = false;
  return product;
}

// More stages than the ring has.
void isSeen(Mistake mistake, const std::string& text, int ctas = 4,
            Product product = prepared({9, 130, 5120, 0, 4})) {
  product.ctas = ctas;
  checkMistake(mistake, text, product);
}

// What the manifest's row has the host do is what its kernels are: their constants, and how long
// the stages are of the one that is launched.
void isAsInTheManifest() {
  const Json manifest = readManifest();
  int launched = 0, withParts = 0;
  for (const Json& row : manifest["kernels"].list) {
    if (row["file"].text != (kIsFp8 ? "decode_fp8.cu" : "decode.cu")) continue;
    blockscope::cuda::Variables names;
    for (const auto& [name, value] : row["constants"].members) names[name] = int(value);
    CHECK(names["ROWS"] == ROWS && names["STAGE_K"] == STAGE_K && names["THREADS"] == THREADS);
    CHECK(names["SHARED_BYTES"] == SHARED_BYTES);
    if (kIsFp8) CHECK(names["OWN_BYTES"] == OWN_BYTES);
    names["SMS"] = 132, names["MEMORY_GBS"] = 4814, names["GROUPS"] = GROUPED,
    names["V"] = SCALE_BLOCK;
    names["BITS_A"] = kBits(A_FORMAT), names["BITS_B"] = kBits(B_FORMAT);
    for (const int rows : {1, 8, 9, 16, 17, 32, 33, 64, 130})
      for (const auto& [n, k] :
           {std::pair{2880, 2880}, {8192, 2048}, {10240, 8192}, {57344, 8192}}) {
        names["M"] = names["MOST_ROWS"] = rows, names["N"] = n, names["K"] = k;
        evaluateValues(row["values"], names);
        for (const Json& launch : row["launches"].list) {
          const std::string& function = launch["function"].text;
          if (function == "prepare" || blockscope::cuda::evaluate(launch["when"].text, names) == 0)
            continue;
          const int tiles = function.find("Pairs") == std::string::npos ? 1 : 2,
                    columns = std::stoi(function.substr(function.find_first_of("0123456789")));
          CHECK(names["TILES"] == tiles && names["COLUMNS"] == columns);
          CHECK(names["STAGE"] == stageOf(columns, tiles));
          CHECK((function.find("AsTheyAre") != std::string::npos) == Product::isAsItIs(rows, k));
          const int64_t rest = names["REST"], parts = names["REST_PARTS"];
          // Up to 16 rows shares of all stages.
          CHECK((rest > 0) == (!GROUPED && n == 10240 && rows > 16 && rows <= 64));
          // Every part has stages and a CTA of its own, and all others are whole turns.
          if (rest > 0)
            CHECK(parts > 1 && (parts - 1) * names["SHARE"] < names["STAGES"] &&
                  parts * names["SHARE"] >= names["STAGES"] && parts * rest <= names["CLUSTERS"] &&
                  names["PLACES"] % names["CLUSTERS"] == rest && names["PARTS"] == parts);
          // A slot of each part, whoever has it.
          for (const Json& room : row["workspace"].list)
            if (room["name"].text == "parts" && names["PARTS"] > 1) {
              CHECK(blockscope::cuda::evaluate(room["bytes"].text, names) ==
                    names["CLUSTERS"] * numbersOfSlot(columns) * 4);
              CHECK(!GROUPED || names["CLUSTERS"] >= names["PLACES"] * names["SPLITS"]);
              withParts++;
            }
          // An H200's memory has more under way than an H100's.
          CHECK(names["DEPTH"] == (GROUPED || SCALE_BLOCK == 16 ? 4 : kIsFp8 ? 5 : 6));
          launched++;
        }
      }
  }
  CHECK(launched == 9 * 4);  // one for each problem
  CHECK(withParts > 0);
}

}  // namespace

#if GROUPED
int main() {
  isAsInTheManifest();
  const auto of = [](std::vector<int> groups, int n, int k, int splits, int ctas) {
    int m = 0;
    for (const int rows : groups) m = afterGroup(m, rows);
    return Product{m, n, k, splits, ctas, std::move(groups)};
  };
  isRight(of({5, 0, 2}, 136, 1056, 1, 2));  // scales that begin between two words, or are copied
  isRight(of({5, 0, 2}, 136, 1088, 1, 2));
  isRight(of({20, 70}, 72, 2880, 2, 4), 3);
  isRight(of({3, 0, 8, 1}, 70, 768, 1, 3));  // an empty one; columns of the next matrix in a tile
  isRight(of({0, 5}, 64, 2048, 2, 2));       // parts of K
  isRight(of({3, 5}, 64, 3072, 6, 12));      // more than are asked for at once
  isRight(of({9, 0, 16, 1, 12}, 130, 1280, 1, 4), 3);
  isRight(of({33, 2, 64}, 96, 1024, 2, 6), 7);
  isRight(of({300, 0, 17, 128}, 70, 512, 1, 6), 7);  // blocks of rows
  isRight(of({3, 130}, 64, 2048, 2, 4), 7);
  return summary();
}
#else
// All ways in which pairs fall apart.
void pairsAreThose() {
#if !IN_E5M2 && B_FORMAT == 0
  for (const u32 others : {0u, 0xffffffffu})
    for (u32 both = 0; both < 256; both++)
      for (int i = 0; i < 4; i++) {
        const u32 mask = 0xf000fu << 4 * i,
                  codes = (others & ~mask) | (both & 15) << 4 * i | both >> 4 << 16 + 4 * i;
        const u32 pair = smallPairOf<B_FORMAT>(codes, i);
        CHECK(decode::unscaledPairOf(codes, i) == pair &&
              decode::smallPairBySigns(codes, i) == pair);
        CHECK(decode::smallHalvesOf(codes, i) == ((pair & 0x80008000) | (pair & 0x01c001c0) << 3));
      }
#elif !IN_E5M2
  // Of 8 bits two share their signs: every code in every byte beside others.
  for (const u32 others : {0u, 0xffffffffu, 0x807fff00u})
    for (u32 code = 0; code < 256; code++)
      for (int byte = 0; byte < 4; byte++) {
        const u32 codes = (others & ~(255u << 8 * byte)) | code << 8 * byte;
        CHECK((smallPairOf<B_FORMAT>(codes, byte % 2) ==
               asSmallBf16<B_FORMAT>(codes >> 8 * (byte % 2) & 0x00ff00ff)));
        const u32 other = codes >> 8 * (3 - byte) & 255;
        CHECK((smallPairOfBytes<B_FORMAT>(0, codes, 4 + byte, 7 - byte) ==
               asSmallBf16<B_FORMAT>(code | other << 16)));
        const bool isSpecial = (code & 127) >= (B_FORMAT == 3 ? 127 : 124);
        CHECK((markedSpecial<B_FORMAT>(codes) >> (8 * byte + 7) & 1) == isSpecial);
      }
#endif
}

void restComesFirst() {
  // Tiles that are more than whole turns come first: two in two parts, by four CTAs that all have
  // one and so add their own; one in as many as there are CTAs, or in fewer, added by one without.
  isRight(restFirst({20, 520, 2048, 2, 4}), 7);
  isRight(restFirst({64, 330, 1536, 3, 5}), 7);
  isRight(restFirst({64, 330, 1536, 2, 5}), 7);  // three stages, then six: turns change
  isRight(restFirst({33, 330, 1024, 2, 4}), 7);
  isRight(restFirst({20, 320, 2048, 4, 4}), 7);
  isRight(restFirst({32, 570, 2560, 3, 8}), 7);
  if (SCALE_FORMAT == 5) isRightOfSmall(restFirst({17, 200, 1024, 2, 3}));
  isRightOfCancelled(restFirst({17, 200, 1024, 2, 3}));
}

int main() {
  isAsInTheManifest();
  pairsAreThose();
  isRight({1, 64, 512, 0, 1});
  isRight({8, 200, 1280, 0, 3});     // more tiles than CTAs; a tail of K
  isRight({8, 130, 1280, 0, 2}, 3);  // the same where, with scales of 16, they need no copy
  isRight({3, 70, 4096, 3}, 3);      // parts of K, of three and of four CTAs
  isRight({2, 330, 1280, 5}, 3);     // stages of two tiles, or of three
  isRight({1, 150, 2048, 11});       // more than a tile's, and fewer in the end
  isRight({5, 72, 2880, 2});         // scales that begin between two words, or are copied
  // The same with A made ready by a kernel before, and A that is too large for the other.
  isRight(prepared({3, 70, 4096, 3}), 3);
  checkThat(!Product{8, 64, 8704}.isAlone() && Product{1, 64, 4096}.isAlone() == kIsFp8,
            "what is alone", __FILE__, __LINE__);
  isRight({8, 64, 8704, 4}, 7);
  isRight({8, 136, 1056, 0, 2});
  isRight({2, 136, 2880, 3});
  isRight(prepared({9, 130, 1024, 0, 2}));
  isRight(prepared({16, 321, 1536, 0, 4}), 3);  // a CTA has one tile more than another
  isRight(prepared({16, 64, 5120, 3}), 2);      // parts
  isRight(prepared({9, 330, 2048, 3}), 3);
  isRight(prepared({13, 400, 2560, 2}), 3);  // three parts of a tile
  isRight({9, 130, 1024, 0, 2});             // the same where each CTA makes A ready
  isRight({16, 321, 1536, 0, 3}, 3);
  isRight({13, 72, 2880, 3}, 2);
  isRight(prepared({13, 72, 2880, 3}), 2);  // scales by eight rows
  isRight({64, 72, 2880, 0, 2}, 7);
  isRight({17, 129, 768, 0, 4}, 3);
  isRight({64, 96, 1024, 1}, 7);
  isRight({64, 130, 2048, 3}, 7);     // turns that change within a share
  isRight({16, 449, 1056, 0, 2}, 3);  // two tiles at a time, of 16 rows too where they are many
  isRight({33, 600, 768, 0, 4}, 7);   // two at a time, of which a CTA has one in the end
  isRight({20, 837, 512, 0, 2}, 7);   // twice two, and twice one; of the last some rows
  isRight({65, 70, 512, 0, 4}, 7);    // blocks of rows; one has one
  isRight({100, 64, 2048, 2, 4}, 7);  // parts of K
  isRight({128, 330, 768, 0, 4}, 7);  // two tiles at a time, then one, of each block
  isRight({130, 96, 512, 0, 2}, 7);
  isRight({256, 64, 512, 0, 8}, 7);
  for (const int depth : {5, 6}) {  // more of the ring
    isRight(ofDepth(depth, {5, 130, 5120, 0, 2}), 3);
    isRight(ofDepth(depth, prepared({8, 70, 4096, 11})), 3);
  }
  restComesFirst();
  // A cluster's CTAs divide K.
  isRight(across(2, {1, 130, 1280, 2}), 3);
  isRight(across(4, {3, 72, 2880, 2}), 3);
  isRight(across(2, {8, 70, 4096, 4}), 3);
  isRight(across(2, {13, 130, 2048, 2}), 3);
  isRight(across(2, prepared({13, 130, 2048, 2})), 3);
  isRight(across(4, {20, 70, 4096, 2}), 7);
  isRight(across(2, {64, 96, 3072, 3}), 7);
  isRight(across(4, {32, 96, 2560, 2}), 7);  // the last has no stages
  isRight(across(2, {130, 70, 1024, 1}), 7);
  isRightOfCancelled(across(2, {3, 64, 1024, 1}));
  isRightOfCancelled({3, 64, 1088, 0, 1});
  isRightOfCancelled({3, 130, 1024, 0, 2});  // of several tiles each sum is looked at for itself
  if (SCALE_FORMAT == 5) isRightOfSmall({3, 64, 512, 0, 1});
  if (SCALE_FORMAT == 5) isRightOfSmall(across(2, {3, 72, 1056, 2}));
  if (SCALE_FORMAT == 5 && A_FORMAT != 7) {
    for (const int lost : {0, 20, 63}) {
      isRightOfLost({3, 64, 2048, 0, 1}, lost);
      isRightOfLost({3, 70, 2048, 3}, lost);
      isRightOfLost({20, 70, 2048, 3}, lost);
      isRightOfLost(across(2, {3, 130, 2048, 2}), lost);
      isRightOfLost(across(4, {20, 70, 2048, 1}), lost);
    }
    for (const int lost : {0, 20, 32}) {
      isRightOfLost({3, 64, 1056, 0, 1}, lost);
      isRightOfLost({20, 330, 1056, 0, 2}, lost);  // two tiles at a time, then one, by turns
    }
    isRightOfSmallRows({3, 130, 1056, 0, 2});
    isRightOfZeros({3, 130, 1056, 0, 2});
    isRightOfZeros(across(2, {20, 70, 2048, 2}));
    // Parts that are zero are there as well.
    isRightOfZeros({3, 130, 2048, 3});
    isRightOfZeros({20, 70, 2048, 3});
    isRightOfZeros(restFirst({20, 330, 1536, 3, 5}));
  }
  isSeen(Mistake::kEarlyRead, "a read");
  isSeen(Mistake::kNoPredecessor, "loaded without a wait for it");
  isSeen(Mistake::kNoClusterSync, "may not be there yet", 4,
         across(2, prepared({9, 130, 5120, 5})));
  isSeen(Mistake::kNoSwizzle, "");
  isSeen(Mistake::kEarlyRead, "a read", 2);  // two tiles at a time
  isSeen(Mistake::kNoSwizzle, "", 2);
  isSeen(Mistake::kOtherBlock, "", 4, {128, 64, 512, 0, 4});
  for (const int rows : {3, 13}) {
    isNanOfOneRow({rows, 130, 2048, 0, 2}, false, false);
    if (A_FORMAT != 7) isNanOfOneRow({rows, 130, 2048, 0, 2}, true, false);
    if (kBits(B_FORMAT) == 8) isNanOfOneRow({rows, 130, 2048, 0, 2}, false, true);
    if (kBits(A_FORMAT) == 8) isNanOfOneRow({rows, 130, 2048, 0, 2}, true, true);
  }
  isNanOfOneRow({20, 130, 1056, 0, 2}, false, false);
  if (kBothAreFp8) {  // A as it is
    // Scales whose product is 2^-150 are lost beside sums from below 2^-120 on, 2^-127 alone is
    // not.
    for (const int scale : {104, 167, 254})
      for (const int first : {0, 10, 17, 24, 40})
        for (const int rows : {3, 13}) isRightOfLeastScales({rows, 70, 2048}, scale, first);
    for (const int scale : {1, 37, 87, 217, 254})
      for (const int rows : {1, 9}) isRightOfTwo({rows, 70, 1024}, scale, 1);
    isSeen(Mistake::kEarlyRead, "a read", 4, {9, 130, 5120, 0, 4});
    isSeen(Mistake::kNoSwizzle, "", 4, {8, 130, 5120, 0, 4});
  }
  if (kIsFp8) isSeen(Mistake::kNotPublished, "not published", 1, {2, 64, 1024, 0, 1});
  return summary();
}
#endif
