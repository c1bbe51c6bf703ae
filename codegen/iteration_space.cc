// Loop nests over the elements of an array, split into units that threads can share.
//
// The dimensions are taken in memory order. Inner ones, up to about min_elements elements, form a
// unit; the rest number the units. A walk by positions has no index per dimension at all: all
// operands lie like the result, so element i is at offset i. Its units are rows of a power of two,
// so that LLVM's vector loop has no remainder. For the CPU:
//   f32[64,3,1000] row-major: unit = [1000], 192 units
//   f32[64000], by positions: 62.5 units of 1024 do not divide, so 125 units of 512
// The outer loop runs over [begin, end) of units: the same function serves one thread or many.
#include "codegen/iteration_space.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace hlokit {
namespace {

// The length of rows of which `count` elements can be made (TilingPolicy::min_row).
int64_t RowLength(int64_t count, const TilingPolicy& policy) {
  int64_t length = policy.max_row;
  while (length >= policy.min_row && length > 1 && count % length != 0) length /= 2;
  return length >= policy.min_row ? length : 1;
}

}  // namespace

IterationSpace::IterationSpace(const Shape& shape, Walk walk, const TilingPolicy& policy,
                               double element_cost)
    : shape_(shape), walk_(walk), policy_(policy) {
  if (walk == Walk::kPositions) {
    unit_elements_ = RowLength(shape.ElementCount(), policy);
    units_ = shape.ElementCount() / unit_elements_;
    return;
  }
  for (int64_t d : shape.MinorToMajor()) {
    if (shape.dims[d] == 1) continue;
    if (unit_elements_ < policy.min_elements) {
      inner_.insert(inner_.begin(), d);
      unit_elements_ *= shape.dims[d];
    } else {
      outer_.insert(outer_.begin(), d);
      units_ *= shape.dims[d];
    }
  }
  CutLongUnit(element_cost);
  if (shape.ElementCount() == 0) units_ = 0;
}

// One long fast dimension is shared out itself.
void IterationSpace::CutLongUnit(double element_cost) {
  const double work = static_cast<double>(unit_elements_) * element_cost;
  const bool is_long =
      unit_elements_ > policy_.max_elements || (unit_elements_ > 1 && work > policy_.max_work);
  if (!outer_.empty() || !is_long) return;
  const int64_t d = inner_.front();
  inner_.erase(inner_.begin());
  outer_.push_back(d);
  units_ = shape_.dims[d];
  unit_elements_ /= shape_.dims[d];
  if (unit_elements_ > 1) return;
  row_ = RowLength(units_, policy_);
  unit_elements_ = row_;
  units_ /= row_;
}

void IterationSpace::UnrollShortRows(double element_cost, bool overwrites) {
  // LLVM makes masked vectors of fewer steps than kTiny. Where these overwrite an array, the next
  // row's loads reach into what was masked and wait for the store to be done.
  constexpr int64_t kTiny = 16, kFewInRest = 5;
  constexpr double kLittle = 8, kLeast = 5;
  constexpr int64_t kMaxRowAsUnit = 4;  // vectors across longer rows are much code
  const bool rows_are_units = inner_.size() == 1 && outer_.size() == 1;
  if (inner_.size() < 2 && !rows_are_units) return;
  const int64_t row = shape_.dims[inner_.back()];
  const int64_t most =
      rows_are_units ? std::min(policy_.max_unrolled, kMaxRowAsUnit) : policy_.max_unrolled;
  unrolled_ = row <= most && static_cast<double>(row) * element_cost <= policy_.max_unrolled_work;
  in_pieces_ = policy_.max_unrolled > 0 && !unrolled_ && row > kMaxRowAsUnit && row < kTiny &&
               row % 8 != 0 &&
               (overwrites ? element_cost <= kLittle
                           : element_cost <= kLeast && row > 8 && row % 8 <= kFewInRest);
}

void IterationSpace::Emit(Builder& b, llvm::Value* begin, llvm::Value* end,
                          absl::FunctionRef<void(const ElementIndex&)> body) const {
  EmitRows(b, begin, end, [&](Elements row) {
    for (const ElementIndex& index : row) body(index);
  });
}

void IterationSpace::EmitRows(Builder& b, llvm::Value* begin, llvm::Value* end,
                              absl::FunctionRef<void(Elements)> body) const {
  EmitLoop(b, begin, end, [&](llvm::Value* unit) {
    walk_ == Walk::kPositions ? EmitPositions(b, unit, body) : EmitUnit(b, unit, body);
  });
}

void IterationSpace::EmitPositions(Builder& b, llvm::Value* unit,
                                   absl::FunctionRef<void(Elements)> body) const {
  llvm::Value* base = Scale(b, unit, unit_elements_);
  EmitLoop(b, unit_elements_, [&](llvm::Value* at) {
    body({ElementIndex::Linear(unit_elements_ == 1 ? unit : b.CreateNSWAdd(base, at))});
  });
}

// As loops of eight and four, which are vectors, and single elements.
static void EmitPieces(Builder& b, int64_t count, absl::FunctionRef<void(llvm::Value*)> body) {
  int64_t first = 0;
  for (const int64_t piece : {8, 4})
    for (; first + piece <= count; first += piece)
      EmitLoop(b, b.Index(first), b.Index(first + piece), body);
  for (; first < count; ++first) body(b.Index(first));
}

void IterationSpace::EmitUnit(Builder& b, llvm::Value* unit,
                              absl::FunctionRef<void(Elements)> body) const {
  std::vector<llvm::Value*> multi(shape_.rank(), b.Index(0));
  Delinearize(b, unit, outer_, shape_.dims, multi);
  llvm::Value* base = Scale(b, unit, unit_elements_);
  if (row_ > 1) {
    EmitLoop(b, row_, [&](llvm::Value* at) {
      multi[outer_[0]] = b.CreateNSWAdd(base, at);
      body({ElementIndex::Multi(multi, multi[outer_[0]])});
    });
    return;
  }
  std::vector<ElementIndex> row;
  std::function<void(size_t, llvm::Value*)> nest = [&](size_t level, llvm::Value* position) {
    if (level == inner_.size()) {
      row.push_back(ElementIndex::Multi(multi, position));
      return;
    }
    const int64_t d = inner_[level];
    int64_t stride = 1;
    for (size_t k = level + 1; k < inner_.size(); ++k) stride *= shape_.dims[inner_[k]];
    const auto step = [&](llvm::Value* at) {
      multi[d] = at;
      nest(level + 1, b.CreateNSWAdd(position, Scale(b, at, stride)));
    };
    const bool last = level + 1 == inner_.size();
    const auto give = [&] {
      if (last) body(std::exchange(row, {}));
    };
    if (unrolled_ && last) {
      for (int64_t at = 0; at < shape_.dims[d]; ++at) step(b.Index(at));
      return give();
    }
    if (last && in_pieces_)
      return EmitPieces(b, shape_.dims[d], [&](llvm::Value* at) {
        step(at);
        give();
      });
    EmitLoop(b, shape_.dims[d], [&](llvm::Value* at) {
      step(at);
      give();
    });
  };
  nest(0, base);
  if (inner_.empty()) body(row);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
