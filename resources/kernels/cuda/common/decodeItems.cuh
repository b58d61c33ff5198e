// What each CTA of decode does, and in which order: tiles of B by blocks of rows of A and parts of
// K, of one product or of groups (see decode.cuh).
#pragma once

#include "common/pipeline.cuh"
#include "common/types.cuh"

namespace decode {

// ROWS and STAGE_K are constants of the manifest's row.
constexpr int kRows = ROWS, kStageK = STAGE_K;

// What a CTA multiplies at a time: a tile of 64 rows of B or two, those of a matrix's end and on,
// by a block of tokens of one product, over part of K.
struct Item {
  int place, tiles;        // among all first tiles of all blocks; how many tiles
  int row, rowOfAll;       // of B, first of them: of its matrix, of all of them
  int firstToken, tokens;  // rows of A
  int part, step, end;     // part of K, of groups; its stages
  // Of a kernel that has a rest: nothing to multiply, the sums of its parts are added.
  __device__ bool isAdded() const { return end == 0; }
};

// Which part of its place's K an item is, and of how many. Whoever has the first adds the others.
// `slot`: the first one's, among all CTAs' parts; the others' are behind it.
struct Parts {
  int own, all, slot;
};

// Rows of A of a block, where there are several.
constexpr int kMostTokens = 64;

// Items are tiles, one or two, or parts of them; or a tile whose K the CTAs of a cluster divide.
// `starts` and `rows` of groups, where there are any.
struct Problem {
  int M, N, K;
  // How K is divided. Of groups every tile's is, in `splits` parts. Of one product a tile is a
  // cluster's of `splits` CTAs with `share` stages each, or, where `splits` is 1, a CTA has `share`
  // stages one after the other, from one tile into the next; 0: whole tiles, by turns. Or, where
  // `rest` is not 0, of the first so many places alone, of which each is in `parts` shares; each
  // CTA has as many of the others as any. So all of them read the same of A at the same time.
  int splits, share;
  int depth;  // stages under way, where the launch tells (Ring::kIsTold)
  const int *starts, *rows;
  int groups;
  int rest = 0, parts = 0;
  int stageK = kStageK;       // elements of K
  int columns = kMostTokens;  // rows of A that an item may have
  int pairs = 0;              // items of two tiles of each block, the first
  // CTAs that divide a tile's K.
  __device__ int across() const { return GROUPED ? 1 : splits; }
  __device__ bool hasShares() const { return !GROUPED && splits == 1 && share > 0; }
  __device__ int tiles() const { return (N + kRows - 1) / kRows; }
  __device__ int tokens(int group) const { return GROUPED ? rows[group] : M; }
  __device__ int blocks(int group) const {
    const int of = tokens(group);
    return columns < kMostTokens ? !GROUPED || of > 0 : (of + kMostTokens - 1) / kMostTokens;
  }
  // Places, of groups times parts of K.
  __device__ int items(int group) const {
    const int ofBlock = pairs == 0 ? tiles() : pairs + max(tiles() - 2 * pairs, 0);
    return ofBlock * blocks(group) * (GROUPED ? splits : 1);
  }
  __device__ int stages() const { return (K + stageK - 1) / stageK; }
  // Whether CTAs have whole places behind their share.
  __device__ bool hasWhole() const { return !GROUPED && rest > 0; }
  // Places in shares, and stages from one to the next in the count of shares.
  __device__ int shared() const { return hasWhole() ? rest : items(0); }
  __device__ int period() const { return hasWhole() ? parts * share : stages(); }
  // Which share of all stages a CTA has. The first CTA has the last: so who goes on with a tile has
  // begun before who waits for its part. Where that is later, CTAs without a share are the last.
  __device__ int shareOfCta() const {
    return hasWhole() ? clusterIndex() : clusterCount() - 1 - clusterIndex();
  }
  // Of one product's place: the first and the last share that have some of its stages.
  __device__ Parts partsOf(const Item& item) const {
    if (GROUPED) return {item.part, splits, item.place * splits};
    if (!hasShares() || (hasWhole() && item.place >= rest)) return {0, 1, 0};
    const int before = item.place * period(), first = before / share,
              last = (before + stages() - 1) / share;
    return {shareOfCta() - first, last - first + 1, first};
  }
  // Every CTA takes two tiles at a time, and one at the end where it has an odd number.
  __device__ void takePairs() {
    const int ctas = gridDim.x, most = (tiles() * blocks(0) + ctas - 1) / ctas;
    pairs = min(most / 2 * ctas / blocks(0), (tiles() + 1) / 2);
  }
};

// A division takes a hundred cycles and more, and these are most often by one. Groups have no
// register left for the question.
__device__ inline int divided(int a, int b) { return !GROUPED && b == 1 ? a : a / b; }

// The items of a CTA, one after the other: those of a tile's blocks are neighbours, so are those of
// a matrix.
struct Items {
  const Problem problem;
  int number = 0, group = 0, before = 0;  // `before`: items of the groups before this one
  // Of a share: stage of K, stages. Or less than 0: so many CTAs add places' parts, which is what
  // is left.
  int step = 0, left = 0;
  __device__ explicit Items(const Problem& of) : problem(of) {}
  // To the first.
  __device__ void begin() {
    number = clusterIndex();
    if (GROUPED) {
      findGroup();
    } else if (problem.hasShares()) {
      const int period = problem.period(), first = problem.shareOfCta() * problem.share;
      left = min(problem.share, problem.shared() * period - first);
      number = first / period;
      step = first - number * period;
      goOnWithWhole();
    }
  }
  // Behind a share, or without one.
  __device__ void goOnWithWhole() {
    if (problem.hasWhole() && left <= 0)
      left = step = 0, number = problem.shared() + clusterIndex();
  }
  __device__ bool done() const {
    return GROUPED               ? group == problem.groups
           : problem.hasShares() ? left <= 0 && (!problem.hasWhole() || number >= ends())
                                 : number >= problem.items(0);
  }
  __device__ bool isOfShare() const {
    return problem.hasShares() && (!problem.hasWhole() || left > 0);
  }
  // Of one product's.
  __device__ bool isLast() const {
    if (problem.hasWhole() && left > 0)
      return left <= problem.period() - step &&
             problem.shared() + clusterIndex() >= problem.items(0);
    return !problem.hasWhole() && problem.hasShares() ? left <= problem.stages() - step
                                                      : number + clusterCount() >= problem.items(0);
  }
  __device__ void next() {
    if (isOfShare()) {
      left -= problem.period() - step;
      number++, step = 0;
      goOnWithWhole();
      return;
    }
    number += problem.hasWhole() && left < 0 ? -left : clusterCount();
    findGroup();
    if (left == 0 && problem.hasWhole() && number >= problem.items(0)) goOnWithParts();
  }
  // By the CTAs that had none, if these are enough: they are done before. Else by those that had a
  // place's last.
  __device__ void goOnWithParts() {
    const int cta = clusterIndex(), places = problem.rest, parts = problem.parts,
              others = clusterCount() - places * parts;
    const bool areEnough = 2 * others >= places;
    left = areEnough ? -others : -places;
    number = areEnough                  ? (cta < places * parts ? places : cta - places * parts)
             : cta % parts == parts - 1 ? cta / parts
                                        : places;
  }
  __device__ int ends() const { return left < 0 ? problem.shared() : problem.items(0); }
  __device__ void findGroup() {
    if constexpr (GROUPED)
      for (; group < problem.groups; group++) {
        const int behind = before + problem.items(group);
        if (number < behind) return;
        before = behind;
      }
  }
  __device__ Item item() const {
    Item item;
    const int pairs = problem.pairs, tiles = problem.tiles(), stages = problem.stages(),
              splits = GROUPED ? problem.splits : 1, place = divided(number, splits),
              ofGroup = GROUPED ? divided(number - before, splits) : place,
              blocks = problem.blocks(group), ofBlock = divided(ofGroup, blocks),
              firstToken = (ofGroup - ofBlock * blocks) * kMostTokens,
              tile = pairs == 0 ? ofBlock : ofBlock + min(ofBlock, pairs);
    item.tiles = pairs > 0 && ofBlock < pairs && tile + 1 < tiles ? 2 : 1;
    item.place = place;
    item.row = tile * kRows;
    item.rowOfAll = group * problem.N + item.row;
    item.firstToken = (GROUPED ? problem.starts[group] : 0) + firstToken;
    item.tokens = min(problem.tokens(group) - firstToken, problem.columns);
    if constexpr (GROUPED) {
      const int each = divided(stages + splits - 1, splits);
      item.part = splits - 1 - (number - place * splits);  // the first last, as of shares
      item.step = min(item.part * each, stages);
      item.end = min((item.part + 1) * each, stages);
    } else {
      item.part = 0;
      item.step = step, item.end = isOfShare()                      ? min(step + left, stages)
                                   : problem.hasWhole() && left < 0 ? 0
                                                                    : stages;
      if (problem.across() > 1) {
        item.step = min((int)clusterRank() * problem.share, stages);
        item.end = min(item.step + problem.share, stages);
      }
    }
    return item;
  }
};

// The stages of a CTA's items, one after the other.
struct Cursor {
  Items items;
  int tiles = 0, rowOfAll = 0, firstToken = 0, step = 0, end = 0;
  __device__ explicit Cursor(const Problem& of) : items(of) {}
  // To the first stage.
  __device__ void begin() {
    items.begin();
    enter();
  }
  __device__ bool done() const { return items.done(); }
  __device__ int k(int ofStep) const { return ofStep * items.problem.stageK; }
  // To the first stage of this item or a later one: parts of a short K may have none.
  __device__ void enter() {
    for (; !done(); items.next()) {
      const Item item = items.item();
      tiles = item.tiles, rowOfAll = item.rowOfAll, firstToken = item.firstToken;
      step = item.step, end = item.end;
      if (step < end) return;
    }
  }
  // No further than to the end of this item.
  __device__ void next(int stages) {
    step += stages;
    if (step < end || done()) return;
    items.next();
    enter();
  }
};

}  // namespace decode
