// Loop nests over the elements of an array, split into units that threads can share.
//
// The dimensions are taken in memory order. Inner ones, up to about kWantedInner elements, form a
// unit; the rest number the units. A linear loop has no index per dimension at all: all operands
// lie like the result, so element i is at offset i. Units of linear loops are rows of a power of
// two, so that LLVM's vector loop has no remainder.
//   f32[64,3,1000] row-major: unit = [1000], 192 units
//   f32[64000], linear: 62.5 units of 1024 do not divide, so 125 units of 512
// The outer loop runs over [begin, end) of units: the same function serves one thread or many.
#include "codegen/domain_loop.h"

#include <functional>

namespace hlokit {
namespace {

// Units shorter than this take a further dimension in.
constexpr int64_t kWantedInner = 64;
constexpr double kLongUnit = 65536;  // of work
constexpr int64_t kLongInner = 8192;
// What WriteOutShortRows takes for short (eight and more make vectors of their own), and for little
// work.
constexpr int64_t kWrittenOut = 7;
constexpr double kMaxWrittenOut = 96;
// Elements of a unit of linear loops, at most and at least.
constexpr int64_t kMaxInRow = 1024, kLeastInRow = 64;

// The length of rows of which `count` elements can be made, where it is one that vectors of all
// widths divide: LLVM then writes no second and third loop for what is left over.
int64_t RowLength(int64_t count) {
  int64_t length = kMaxInRow;
  while (length >= kLeastInRow && count % length != 0) length /= 2;
  return length >= kLeastInRow ? length : 1;
}

}  // namespace

DomainLoop::DomainLoop(const Shape& shape, bool linear, double element_cost)
    : shape_(shape), linear_(linear) {
  if (linear_) {
    inner_ = RowLength(shape.ElementCount());
    units_ = shape.ElementCount() / inner_;
    return;
  }
  for (int64_t d : shape.MinorToMajor()) {
    if (shape.dims[d] == 1) continue;
    if (inner_ < kWantedInner) {
      inner_dims_.insert(inner_dims_.begin(), d);
      inner_ *= shape.dims[d];
    } else {
      outer_.insert(outer_.begin(), d);
      units_ *= shape.dims[d];
    }
  }
  // One long fast dimension is shared out itself.
  const double work = static_cast<double>(inner_) * element_cost;
  if (outer_.empty() && (inner_ > kLongInner || (inner_ > 1 && work > kLongUnit))) {
    const int64_t d = inner_dims_.front();
    inner_dims_.erase(inner_dims_.begin());
    outer_.push_back(d);
    units_ = shape.dims[d];
    inner_ /= shape.dims[d];
    if (inner_ == 1) {
      row_ = RowLength(units_);
      inner_ = row_;
      units_ /= row_;
    }
  }
  if (shape.ElementCount() == 0) units_ = 0;
}

void DomainLoop::WriteOutShortRows(double element_cost) {
  if (inner_dims_.size() < 2) return;
  const int64_t row = shape_.dims[inner_dims_.back()];
  written_out_ = row <= kWrittenOut && static_cast<double>(row) * element_cost <= kMaxWrittenOut;
}

void DomainLoop::Emit(Builder& b, llvm::Value* begin, llvm::Value* end,
                      absl::FunctionRef<void(const ElementIndex&)> body) const {
  if (linear_) {
    EmitLoop(b, begin, end, [&](llvm::Value* unit) {
      llvm::Value* base = Scale(b, unit, inner_);
      EmitLoop(b, inner_, [&](llvm::Value* at) {
        body(ElementIndex::Linear(inner_ == 1 ? unit : b.CreateNSWAdd(base, at)));
      });
    });
    return;
  }
  EmitLoop(b, begin, end, [&](llvm::Value* unit) {
    std::vector<llvm::Value*> multi(shape_.rank(), b.getInt64(0));
    llvm::Value* rest = unit;
    for (size_t k = outer_.size(); k-- > 0;) {
      if (k == 0) {
        multi[outer_[k]] = rest;
        break;
      }
      llvm::Value* size = b.getInt64(shape_.dims[outer_[k]]);
      multi[outer_[k]] = b.CreateURem(rest, size);
      rest = b.CreateUDiv(rest, size);
    }
    llvm::Value* base = Scale(b, unit, inner_);
    if (row_ > 1) {
      EmitLoop(b, row_, [&](llvm::Value* at) {
        multi[outer_[0]] = b.CreateNSWAdd(base, at);
        body(ElementIndex::Multi(multi, multi[outer_[0]]));
      });
      return;
    }
    std::function<void(size_t, llvm::Value*)> nest = [&](size_t level, llvm::Value* position) {
      if (level == inner_dims_.size()) {
        body(ElementIndex::Multi(multi, position));
        return;
      }
      const int64_t d = inner_dims_[level];
      int64_t stride = 1;
      for (size_t k = level + 1; k < inner_dims_.size(); ++k) stride *= shape_.dims[inner_dims_[k]];
      const auto step = [&](llvm::Value* at) {
        multi[d] = at;
        nest(level + 1, b.CreateNSWAdd(position, Scale(b, at, stride)));
      };
      if (!written_out_ || level + 1 < inner_dims_.size()) return EmitLoop(b, shape_.dims[d], step);
      for (int64_t at = 0; at < shape_.dims[d]; ++at) step(b.getInt64(at));
    };
    nest(0, base);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
