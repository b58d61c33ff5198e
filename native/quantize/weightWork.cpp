#include "weightWork.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "../core/threads.h"

namespace blockscope {

namespace {

// Values of one piece of work, and of the part of it that stays in the nearest cache while it is
// decoded and quantised.
constexpr int64_t kPieceValues = 1 << 18, kTileValues = 1 << 12;
constexpr int64_t kPieceBytes = 1 << 22;

// Calls body(index, first, count) for pieces of `total`, on all cores, and reports.
template <typename Body>
void inPieces(int64_t total, int64_t piece, std::string_view phase, const CancelFlag& cancel,
              const Progress& progress, Body body) {
  std::atomic<int64_t> done{0};
  parallelFor((total + piece - 1) / piece, cancel, [&](int64_t index) {
    const int64_t first = index * piece, count = std::min(piece, total - first);
    body(index, first, count);
    progress(static_cast<double>(done += count) / static_cast<double>(total), phase);
  });
}

// Room of one thread for one piece, asked for once.
struct Room {
  std::vector<uint8_t> bytes, otherBytes, codes, packed, scales;
  std::vector<double> values = std::vector<double>(kTileValues),
                      others = std::vector<double>(kTileValues);
};

Room& roomOfThread() {
  thread_local Room room;
  return room;
}

// `values` start at value `first` of the weight.
void countBad(const double* values, int64_t count, int64_t first, BadValues& bad) {
  for (int64_t i = 0; i < count; i++) {
    if (std::isfinite(values[i])) continue;
    (std::isnan(values[i]) ? bad.nan : bad.infinite)++;
    if (bad.first < 0 || first + i < bad.first) bad.first = first + i;
  }
}

void add(BadValues& to, const BadValues& more) {
  to.nan += more.nan;
  to.infinite += more.infinite;
  if (more.first >= 0 && (to.first < 0 || more.first < to.first)) to.first = more.first;
}

int64_t valuesOf(const StoredValues& stored, RowRange range) {
  return (range.to - range.from) * stored.k;
}

int64_t storedBytes(NumberFormatId element, int64_t values) {
  return numberFormat(element).storageBits == 4 ? values / 2 : values;
}

void requireWholeMatrices(const ScaleLayout& layout, RowRange range, int64_t rowsPerMatrix) {
  if (range.from % rowsPerMatrix == 0 && range.to % rowsPerMatrix == 0) return;
  throw Error(ErrorKind::kUsage,
              "Scales in layout " + layout.name + " are written for whole matrices.");
}

// Linear scales of whole matrices, packed and written; `linear` begins at matrix `first`.
void writePacked(const uint8_t* linear, int64_t first, int64_t matrices, int64_t rows,
                 int64_t columns, const ScaleLayout& layout, int64_t position,
                 const FileBytes& file) {
  for (int64_t matrix = 0; matrix < matrices; matrix++) {
    const auto packed = packScales(layout, linear + matrix * rows * columns, rows, columns);
    file.write(position + (first + matrix) * static_cast<int64_t>(packed.size()), packed.data(),
               static_cast<int64_t>(packed.size()));
  }
}

}  // namespace

ScannedValues scanValues(const StoredValues& stored, RowRange range, const CancelFlag& cancel,
                         const Progress& progress) {
  const ValueReader reader(stored, range);
  ScannedValues all;
  std::mutex mutex;
  inPieces(valuesOf(stored, range), kPieceValues, "largest value", cancel, progress,
           [&](int64_t, int64_t first, int64_t count) {
             Room& room = roomOfThread();
             reader.load(first, count, room.bytes);
             ScannedValues piece;
             for (int64_t at = 0; at < count; at += kTileValues) {
               const int64_t some = std::min(kTileValues, count - at);
               double* values = room.values.data();
               reader.decode(room.bytes, first, at, some, values);
               bool finite = true;
               piece.largest = quantizeKernels().largestFinite(values, some, piece.largest, finite);
               if (!finite) countBad(values, some, range.from * stored.k + first + at, piece.bad);
             }
             const std::lock_guard lock(mutex);
             all.largest = std::max(all.largest, piece.largest);
             add(all.bad, piece.bad);
           });
  return all;
}

QuantizedRows quantizeRows(const StoredValues& stored, RowRange range, const QuantizedWeight& to,
                           const CancelFlag& cancel, const Progress& progress) {
  if (!isLinear(to.layout)) requireWholeMatrices(to.layout, range, stored.rowsPerMatrix);
  const ValueReader reader(stored, range);
  const FileBytes codesFile(to.codes.path, FileBytes::Access::kWrite),
      scalesFile(to.scales.path, FileBytes::Access::kWrite);
  const QuantizedForm& form = to.form;
  const int perBlock = form.scaleBlockSize;
  const bool fp4 = numberFormat(form.element).storageBits == 4, linear = isLinear(to.layout);
  const int64_t total = valuesOf(stored, range), firstValue = range.from * stored.k;
  std::vector<uint8_t> scales(linear ? 0 : total / perBlock);
  QuantizedRows all;
  std::mutex mutex;
  inPieces(total, kPieceValues, "quantising", cancel, progress,
           [&](int64_t, int64_t first, int64_t count) {
             Room& room = roomOfThread();
             reader.load(first, count, room.bytes);
             room.codes.resize(kTileValues);
             room.packed.resize(storedBytes(form.element, count));
             if (linear) room.scales.resize(count / perBlock);
             uint8_t* pieceScales = linear ? room.scales.data() : scales.data() + first / perBlock;
             QuantizedRows piece;
             for (int64_t at = 0; at < count; at += kTileValues) {
               const int64_t some = std::min(kTileValues, count - at);
               double* values = room.values.data();
               reader.decode(room.bytes, first, at, some, values);
               uint8_t* codes = fp4 ? room.codes.data() : room.packed.data() + at;
               const BadBlocks bad = quantizeKernels().quantize(form, values, some / perBlock,
                                                                codes, pieceScales + at / perBlock);
               if (fp4) quantizeKernels().packFp4(codes, some, room.packed.data() + at / 2);
               if (bad == 0) continue;
               piece.badBlocks += bad;
               countBad(values, some, firstValue + first + at, piece.bad);
             }
             codesFile.write(to.codes.position + storedBytes(form.element, firstValue + first),
                             room.packed.data(), static_cast<int64_t>(room.packed.size()));
             if (linear)
               scalesFile.write(to.scales.position + (firstValue + first) / perBlock, pieceScales,
                                count / perBlock);
             const std::lock_guard lock(mutex);
             all.badBlocks += piece.badBlocks;
             add(all.bad, piece.bad);
           });
  if (!linear)
    writePacked(scales.data(), range.from / stored.rowsPerMatrix,
                (range.to - range.from) / stored.rowsPerMatrix, stored.rowsPerMatrix,
                stored.k / perBlock, to.layout, to.scales.position, scalesFile);
  return all;
}

ComparedRows compareRows(const StoredValues& original, const StoredValues& converted,
                         RowRange range, const CancelFlag& cancel, const Progress& progress) {
  if (original.k != converted.k || original.rowsPerMatrix != converted.rowsPerMatrix)
    throw Error(ErrorKind::kUsage, "Weights of different sizes cannot be compared.");
  const ValueReader readerX(original, range), readerY(converted, range);
  const int64_t total = valuesOf(original, range), firstValue = range.from * original.k;
  // Added up in the order of the pieces, whichever is done first: the same sums on every machine.
  std::vector<ComparedRows> pieces((total + kPieceValues - 1) / kPieceValues);
  inPieces(total, kPieceValues, "comparing", cancel, progress,
           [&](int64_t index, int64_t first, int64_t count) {
             Room& room = roomOfThread();
             readerX.load(first, count, room.bytes);
             readerY.load(first, count, room.otherBytes);
             ComparedRows& piece = pieces[index];
             double signal[kLanes] = {}, noise[kLanes] = {}, largest[kLanes] = {};
             for (int64_t at = 0; at < count; at += kTileValues) {
               const int64_t some = std::min(kTileValues, count - at);
               double *x = room.values.data(), *y = room.others.data();
               readerX.decode(room.bytes, first, at, some, x);
               readerY.decode(room.otherBytes, first, at, some, y);
               bool finite = true;
               quantizeKernels().largestFinite(x, some, 0, finite);
               if (!finite) countBad(x, some, firstValue + first + at, piece.bad);
               quantizeKernels().largestFinite(y, some, 0, finite);
               for (int64_t i = 0; !finite && i < some; i++) {
                 if (std::isfinite(x[i]) && std::isfinite(y[i])) continue;
                 const bool same = x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]));
                 piece.different += same ? 0 : 1;
                 piece.lost += std::isfinite(x[i]) ? 1 : 0;
                 x[i] = y[i] = 0;
               }
               quantizeKernels().addErrors(x, y, some, signal, noise, largest);
             }
             for (int l = 0; l < kLanes; l++) {
               piece.signal += signal[l];
               piece.noise += noise[l];
               piece.largestError = std::max(piece.largestError, largest[l]);
             }
           });
  ComparedRows all;
  for (const ComparedRows& piece : pieces) {
    all.signal += piece.signal;
    all.noise += piece.noise;
    all.largestError = std::max(all.largestError, piece.largestError);
    all.different += piece.different;
    all.lost += piece.lost;
    add(all.bad, piece.bad);
  }
  return all;
}

void repackScales(const StoredScales& from, int64_t rowsPerMatrix, int64_t columns, RowRange range,
                  const ScaleLayout& layout, const FilePlace& to, const CancelFlag& cancel,
                  const Progress& progress) {
  requireWholeMatrices(layout, range, rowsPerMatrix);
  const FileBytes file(to.path, FileBytes::Access::kWrite);
  const int64_t first = range.from / rowsPerMatrix;
  inPieces(
      (range.to - range.from) / rowsPerMatrix, 1, "scales", cancel, progress,
      [&](int64_t, int64_t matrix, int64_t) {
        const int64_t row = (first + matrix) * rowsPerMatrix;
        const auto linear = readScales(from, rowsPerMatrix, columns, {row, row + rowsPerMatrix});
        writePacked(linear.data(), first + matrix, 1, rowsPerMatrix, columns, layout, to.position,
                    file);
      });
}

void copyBytes(const FilePlace& from, const FilePlace& to, int64_t count, const CancelFlag& cancel,
               const Progress& progress) {
  const FileBytes source(from.path, FileBytes::Access::kRead),
      target(to.path, FileBytes::Access::kWrite);
  inPieces(count, kPieceBytes, "copying", cancel, progress,
           [&](int64_t, int64_t first, int64_t some) {
             Room& room = roomOfThread();
             room.bytes.resize(some);
             source.read(from.position + first, room.bytes.data(), some);
             target.write(to.position + first, room.bytes.data(), some);
           });
}

}  // namespace blockscope
