// Sizes at the borders of the entry computation.
//
// Compiled code takes arrays of their bound and sizes as further arguments:
//   entry (x: f32[<=8]) -> f32[<=8]
//   ->  entry (x: f32[8], n: s32[]) -> (f32[8], s32[])
// Parameters become set-dimension-size of the bound array and the size, results the array at its
// bound and get-dimension-size. So everything between is as the dynamic padder wants it. Sizes that
// are computed inside and may leave their range (set-dimension-size, dynamic-reshape) are compared
// with their bounds, and whether all are in range is one more result, which turns a wrong size into
// an error after the run.
#include "passes/dynamic_entry.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "passes/manager.h"
#include "passes/pipelines.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/layout_copies.h"
#include "support/status.h"

namespace hlokit {
namespace {

Shape AtBounds(Shape shape) {
  shape.dynamic_mask = 0;
  return shape;
}

class EntryTaker {
 public:
  EntryTaker(Module& module, DynamicEntry& out)
      : c_(*module.entry()), out_(out), splits_(c_.root()->opcode() == Opcode::kTuple) {}

  // Before sizes are taken out: a result that says whether all are in range.
  void AddCheck() {
    Rewriter rewriter(c_);
    HloWriter w(rewriter);
    for (Instruction* i : c_.PostOrder()) {
      rewriter.set_subject(i);
      if (i->opcode() == Opcode::kSetDimensionSize)
        CheckSize(w, i->operand(1),
                  i->operand(0)->shape().dims[i->attr<DimensionsAttrs>().dimensions[0]]);
      if (i->opcode() == Opcode::kDynamicReshape) CheckReshape(w, *i);
    }
    if (all_ == nullptr) return;
    out_.checked = true;
    Instruction* root = c_.root();
    std::vector<Instruction*> parts = {root};
    if (splits_) parts.assign(root->operands().begin(), root->operands().end());
    parts.push_back(all_);
    c_.set_root(Tuple(parts));
    if (splits_ && root->users().empty()) c_.Remove(root);
  }

  void Run() {
    AddSizeParameters();
    for (Instruction* i : c_.PostOrder()) {
      if (i->opcode() == Opcode::kGetDimensionSize && i->operand(0)->IsParameter()) {
        const int64_t d = i->attr<DimensionsAttrs>().dimensions[0];
        if (Instruction* size = SizeOf(i->operand(0), d)) i->ReplaceAllUsesWith(size);
      }
      // Back at its bound, as all is now.
      if (i->opcode() == Opcode::kSetDimensionSize && !i->shape().HasDynamicDims())
        i->ReplaceAllUsesWith(InLayoutOf(i->operand(0), i->shape()));
    }
    for (Instruction* p : c_.parameters())
      if (p->shape().IsArray()) p->set_shape(AtBounds(p->shape()));
    MakeRoot();
    RemoveDead(c_);
  }

 private:
  // `x`, or a copy of it, with the order of elements that `shape` has.
  Instruction* InLayoutOf(Instruction* x, const Shape& shape) {
    if (!shape.has_layout || x->shape().layout.minor_to_major == shape.layout.minor_to_major)
      return x;
    return c_.Add(Opcode::kCopy, AtBounds(shape), {x});
  }

  void Require(HloWriter& w, Instruction* holds) {
    all_ = all_ == nullptr ? holds : w.Binary(Opcode::kAnd, all_, holds);
  }

  void CheckSize(HloWriter& w, Instruction* size, int64_t bound) {
    const ElementType type = size->shape().type;
    Require(w, w.Compare(size, w.Integer(type, 0), ComparisonDirection::kGe));
    Require(w, w.Compare(size, w.Integer(type, bound), ComparisonDirection::kLe));
  }

  // Each size is in range, and together they name as many elements as there are.
  void CheckReshape(HloWriter& w, const Instruction& i) {
    const auto times = [&](Instruction* product, Instruction* size) {
      return w.Binary(Opcode::kMultiply, product, w.Convert(size, ElementType::kS64));
    };
    Instruction* x = i.operand(0);
    Instruction* given = w.Integer(ElementType::kS64, 1);
    Instruction* wanted = given;
    for (int d = 0; d < x->shape().rank(); ++d)
      given =
          times(given, x->shape().IsDynamic(d) ? w.rewriter().Add(Opcode::kGetDimensionSize,
                                                                  RowMajor(ElementType::kS32, {}),
                                                                  {x}, DimensionsAttrs{{d}})
                                               : w.Integer(ElementType::kS64, x->shape().dims[d]));
    for (int d = 0; d < i.shape().rank(); ++d) {
      CheckSize(w, i.operand(d + 1), i.shape().dims[d]);
      wanted = times(wanted, i.operand(d + 1));
    }
    Require(w, w.Compare(given, wanted, ComparisonDirection::kEq));
  }

  void AddSizeParameters() {
    const int64_t count = c_.parameter_count();
    for (int64_t p = 0; p < count; ++p) {
      const Shape& shape = c_.parameter(p)->shape();
      if (!shape.IsArray()) continue;
      for (int d = 0; d < shape.rank(); ++d) {
        if (!shape.IsDynamic(d)) continue;
        out_.arguments.push_back({p, d});
        sizes_.push_back(c_.AddParameter(c_.parameter_count(), Shape::Scalar(ElementType::kS32),
                                         absl::StrCat("size_", p, "_", d)));
      }
    }
  }

  Instruction* SizeOf(const Instruction* parameter, int64_t d) const {
    for (size_t k = 0; k < sizes_.size(); ++k)
      if (out_.arguments[k].array == parameter->parameter_number() &&
          out_.arguments[k].dimension == d)
        return sizes_[k];
    return nullptr;
  }

  void MakeRoot() {
    Instruction* root = c_.root();
    const bool tuple = root->opcode() == Opcode::kTuple;
    std::vector<Instruction*> parts, sizes;
    if (tuple) {
      parts.assign(root->operands().begin(), root->operands().end());
    } else {
      parts = {root};
    }
    int64_t leaf = 0;
    const size_t results = parts.size() - (out_.checked ? 1 : 0);
    for (size_t k = 0; k < results; ++k) {
      const Shape& shape = splits_ ? out_.result.elements[k] : out_.result;
      const auto leaves = static_cast<int64_t>(Leaves(shape).size());
      if (shape.IsArray()) parts[k] = Static(parts[k], shape, leaf, sizes);
      leaf += leaves;
    }
    if (sizes.empty() && !tuple) return;
    parts.insert(parts.end(), sizes.begin(), sizes.end());
    c_.set_root(Tuple(parts));
  }

  Instruction* Tuple(const std::vector<Instruction*>& parts) {
    std::vector<Shape> shapes;
    for (const Instruction* part : parts) shapes.push_back(part->shape());
    return c_.Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), parts);
  }

  // A result without the sizes set on it, which are noted and appended.
  Instruction* Static(Instruction* x, const Shape& shape, int64_t leaf,
                      std::vector<Instruction*>& sizes) {
    std::vector<Instruction*> set(shape.rank(), nullptr);
    const Shape declared = x->shape();
    while (x->opcode() == Opcode::kSetDimensionSize) {
      Instruction*& size = set[x->attr<DimensionsAttrs>().dimensions[0]];
      if (size == nullptr) size = x->operand(1);
      x = x->operand(0);
    }
    for (int d = 0; d < shape.rank(); ++d) {
      if (!shape.IsDynamic(d)) continue;
      if (set[d] == nullptr && x->IsParameter()) set[d] = SizeOf(x, d);
      if (set[d] == nullptr)
        set[d] = c_.AddConstant(Literal::R0<int32_t>(static_cast<int32_t>(shape.dims[d])));
      sizes.push_back(set[d]);
      out_.results.push_back({leaf, d});
    }
    return InLayoutOf(x, declared);
  }

  Computation& c_;
  DynamicEntry& out_;
  const bool splits_;  // the result is a tuple made at the end, part by part
  std::vector<Instruction*> sizes_;
  Instruction* all_ = nullptr;  // of the check: what must hold
};

// A root that gives a tuple becomes a tuple of its parts.
void SplitRoot(Computation& c) {
  Instruction* root = c.root();
  if (!root->shape().IsTuple() || root->opcode() == Opcode::kTuple) return;
  Rewriter rewriter(c);
  HloWriter w(rewriter);
  rewriter.set_subject(root);
  std::vector<Instruction*> parts;
  for (size_t k = 0; k < root->shape().elements.size(); ++k) parts.push_back(w.Part(root, k));
  c.set_root(w.Tuple(parts));
}

bool HasDynamicFusion(const Module& module) {
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      if (i->opcode() == Opcode::kFusion &&
          (i->shape().HasDynamicDims() ||
           std::any_of(i->operands().begin(), i->operands().end(),
                       [](const Instruction* x) { return x->shape().HasDynamicDims(); })))
        return true;
  return false;
}

}  // namespace

absl::Status ExposeDynamic(Module& module) {
  RemoveUncalled(module);
  RETURN_IF_ERROR(RunPasses(module, kInlineCallsPasses));
  return HasDynamicFusion(module) ? RunPasses(module, kDefusePasses) : absl::OkStatus();
}

absl::StatusOr<DynamicEntry> TakeDynamicEntry(Module& module) {
  DynamicEntry taken;
  RETURN_IF_ERROR(ExposeDynamic(module));
  for (const Instruction* p : module.entry()->parameters()) taken.parameters.push_back(p->shape());
  taken.result = module.entry()->root()->shape();
  SplitRoot(*module.entry());
  EntryTaker taker(module, taken);
  taker.AddCheck();
  RETURN_IF_ERROR(RunPasses(module, kMaskDynamicSizesPasses));
  taker.Run();
  ModuleHeader& header = module.header();
  header.aliases.clear();
  header.donors.clear();
  if (header.entry_layout) {
    header.entry_layout->parameters.clear();
    for (const Instruction* p : module.entry()->parameters())
      header.entry_layout->parameters.push_back(p->shape());
    header.entry_layout->result = module.entry()->root()->shape();
  }
  return taken;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
