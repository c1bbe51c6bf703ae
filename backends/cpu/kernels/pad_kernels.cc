// Padding at the root of a kernel: one loop fills the edges of each row, another writes the
// operand's elements to their places. Element by element, each element would test its index against
// every dimension.
#include <algorithm>

#include "backends/cpu/kernels/strategies_internal.h"
#include "types/element_type.h"

namespace hlokit {
namespace {

// Of the fastest dimension: shorter rows go element by element.
constexpr int64_t kLeastRow = 16;

bool Matches(const Expression& e) {
  if (e.roots.size() != 1 || e.roots[0]->opcode() != Opcode::kPad) return false;
  const Instruction* pad = e.roots[0];
  const Shape& from = pad->operand(0)->shape();
  if (from.ElementCount() == 0 || from.rank() == 0) return false;
  if (from.dims[e.shapes[0].MinorToMajor()[0]] < kLeastRow) return false;
  const PaddingConfig& config = pad->attr<PadAttrs>().padding;
  return std::all_of(config.begin(), config.end(),
                     [](const PaddingDim& d) { return d.low >= 0 && d.high >= 0; });
}

class PadEmitter {
 public:
  PadEmitter(const Expression& e, Builder& b, KernelArrays& arrays)
      : pad_(e.roots[0]),
        shape_(e.shapes[0]),
        minor_(shape_.MinorToMajor()[0]),
        config_(pad_->attr<PadAttrs>().padding),
        result_(arrays.result(0)),
        b_(b),
        emitter_(b) {
    emitter_.set_excess(true);
    emitter_.set_plain_nans(HasPlainNaNs(e));
    BindLeaves(emitter_, e, arrays);
    padding_ = emitter_.EmitRounded(pad_->operand(1), ElementIndex::Multi({}));
  }

  // What of the row at `row` (0 along the fastest dimension) holds none of the operand's elements,
  // and what lies between them.
  void EmitEdges(const ElementIndex& row) {
    llvm::Value* inside = Inside(row);
    const int64_t length = shape_.dims[minor_];
    const PaddingDim& d = config_[minor_];
    EmitIf(b_, b_.CreateNot(inside), [&] { Fill(row, 0, length); });
    EmitIf(b_, inside, [&] {
      if (d.interior > 0) return Fill(row, 0, length);
      Fill(row, 0, d.low);
      Fill(row, length - d.high, length);
    });
  }

  void EmitElement(const ElementIndex& index) {
    emitter_.BeginScope();
    ElementIndex to = ElementIndex::Multi(index.multi);
    for (size_t d = 0; d < config_.size(); ++d)
      to.multi[d] = b_.CreateNSWAdd(Scale(b_, index.multi[d], config_[d].interior + 1),
                                    b_.getInt64(config_[d].low));
    const ScalarValue value =
        emitter_.EmitRounded(pad_->operand(0), ElementIndex::Multi(index.multi));
    StoreTo(b_, {result_.base, shape_}, to, value);
    emitter_.EndScope();
  }

 private:
  llvm::Value* Inside(const ElementIndex& row) {
    llvm::Value* inside = b_.getTrue();
    for (int64_t d = 0; d < shape_.rank(); ++d) {
      const PaddingDim& p = config_[d];
      if (d == minor_ || (p.low == 0 && p.high == 0 && p.interior == 0)) continue;
      llvm::Value* at = b_.CreateNSWSub(row.multi[d], b_.getInt64(p.low));
      const int64_t reach = (pad_->operand(0)->shape().dims[d] - 1) * (p.interior + 1) + 1;
      inside = b_.CreateAnd(inside, b_.CreateICmpULT(at, b_.getInt64(reach)));
      if (p.interior == 0) continue;
      llvm::Value* between = b_.CreateURem(at, b_.getInt64(p.interior + 1));
      inside = b_.CreateAnd(inside, b_.CreateICmpEQ(between, b_.getInt64(0)));
    }
    return inside;
  }

  void Fill(const ElementIndex& row, int64_t begin, int64_t end) {
    ElementIndex to = ElementIndex::Multi(row.multi);
    EmitLoop(b_, b_.getInt64(begin), b_.getInt64(end), [&](llvm::Value* at) {
      to.multi[minor_] = at;
      StoreTo(b_, {result_.base, shape_}, to, padding_);
    });
  }

  const Instruction* pad_;
  const Shape& shape_;
  int64_t minor_;
  const PaddingConfig& config_;
  ArrayRef result_;
  Builder& b_;
  ElementEmitter emitter_;
  ScalarValue padding_;
};

Kernel LoopKernel(const Expression& e, const Shape& domain, const TilingPolicy& policy, double cost,
                  void (PadEmitter::*emit)(const ElementIndex&)) {
  const IterationSpace space(domain, IterationSpace::Walk::kDimensions, policy, cost);
  Kernel kernel;
  kernel.units = space.units();
  kernel.unit_cost = cost * static_cast<double>(space.elements_per_unit());
  kernel.emit = [=](Builder& b, KernelArrays& arrays, llvm::Value* begin, llvm::Value* end) {
    PadEmitter emitter(e, b, arrays);
    space.Emit(b, begin, end, [&](const ElementIndex& index) { (emitter.*emit)(index); });
  };
  return kernel;
}

// `shape` in the memory order of `like`.
Shape InOrderOf(Shape shape, const Shape& like) {
  shape.has_layout = like.has_layout;
  shape.layout = like.layout;
  return shape;
}

}  // namespace

bool AddPadKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  if (!Matches(e)) return false;
  const Shape& result = e.shapes[0];
  const int64_t minor = result.MinorToMajor()[0];
  Shape rows = result;
  rows.dims[minor] = 1;
  const double row_cost = 0.1 * static_cast<double>(result.dims[minor]);
  out.push_back(LoopKernel(e, rows, request.target.tiling, row_cost, &PadEmitter::EmitEdges));
  const Shape domain = InOrderOf(e.roots[0]->operand(0)->shape(), result);
  out.push_back(
      LoopKernel(e, domain, request.target.tiling, ElementCost(e), &PadEmitter::EmitElement));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
