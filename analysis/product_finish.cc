// A walk from the last instruction down to the product; members are listed on the way back. First
// one for the forms that the runtime knows, then one for any elementwise instructions.
#include "analysis/product_finish.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analysis/emittable.h"
#include "analysis/form_body.h"
#include "ir/computation.h"
#include "types/literal.h"

namespace hlokit {
namespace {

constexpr int64_t kLeastSize = 16;  // rows, columns and depth of a dot
constexpr size_t kMaxWindowDims = 16;

bool IsPlainF32(const Shape& shape) {
  return shape.IsArray() && shape.type == ElementType::kF32 && !shape.HasDynamicDims() &&
         shape.IsRowMajor();
}

bool IsFinishedDot(const Instruction& dot) {
  const auto& a = dot.attr<DotAttrs>();
  const Shape &lhs = dot.operand(0)->shape(), &rhs = dot.operand(1)->shape();
  if (!a.lhs_batch_dims.empty() || a.lhs_contracting_dims.size() != 1 || rhs.rank() != 2 ||
      dot.operand_count() != 2 || !a.algorithm.text.empty() || dot.shape().rank() == 0)
    return false;
  const int64_t columns = dot.shape().dims.back();
  return std::min({columns, lhs.dims[a.lhs_contracting_dims[0]],
                   dot.shape().ElementCount() / std::max<int64_t>(columns, 1)}) >= kLeastSize;
}

bool IsFinishedConvolution(const Instruction& conv) {
  const auto& a = conv.attr<ConvolutionAttrs>();
  const int64_t features = conv.operand(0)->shape().dims[a.dim_labels.input_feature];
  const bool depthwise = a.feature_group_count == features && conv.shape().dims.back() == features;
  return conv.operand_count() == 2 && (a.feature_group_count == 1 || depthwise) &&
         a.batch_group_count == 1 && a.window.size() <= kMaxWindowDims &&
         a.dim_labels.output_feature == conv.shape().rank() - 1 && conv.shape().ElementCount() > 0;
}

bool IsFinishedProduct(const Instruction& i) {
  if (i.opcode() != Opcode::kDot && i.opcode() != Opcode::kConvolution) return false;
  for (const Instruction* operand : i.operands())
    if (!operand->shape().IsArray() || operand->shape().type != ElementType::kF32 ||
        operand->shape().HasDynamicDims())
      return false;
  return i.opcode() == Opcode::kDot ? IsFinishedDot(i) : IsFinishedConvolution(i);
}

// A scalar constant, or its broadcast.
std::optional<float> LimitOf(const Instruction* i) {
  if (i->opcode() == Opcode::kBroadcast) i = i->operand(0);
  if (!i->IsConstant() || !i->shape().IsScalar() || i->literal() == nullptr) return std::nullopt;
  return static_cast<float>(i->literal()->GetDouble(0));
}

// A broadcast along the columns of an array of that shape.
bool IsAlongColumns(const Instruction& i, const Shape& shape) {
  return i.opcode() == Opcode::kBroadcast && IsPlainF32(i.operand(0)->shape()) &&
         i.operand(0)->shape().rank() == 1 &&
         i.attr<BroadcastAttrs>().dimensions == DimVector{shape.rank() - 1};
}

bool IsOfScalar(const Instruction& i) {
  return i.opcode() == Opcode::kBroadcast && i.operand(0)->shape().IsScalar() &&
         i.operand(0)->shape().type == ElementType::kF32;
}

class FinishWalk {
 public:
  std::optional<ProductFinish> From(const Instruction& last) {
    last_ = &last;
    if (!IsPlainF32(last.shape()) || last.shape().rank() == 0 || !Limited(&last) ||
        form_.members.size() < 2)
      return std::nullopt;
    return std::move(form_);
  }

 private:
  void Take(const Instruction* i) {
    if (std::find(form_.members.begin(), form_.members.end(), i) == form_.members.end())
      form_.members.push_back(i);
  }
  void TakeLimit(const Instruction* i) {
    if (i->opcode() == Opcode::kBroadcast) Take(i->operand(0));
    Take(i);
  }

  // Whether `i` may be an inner member: of the result's shape, with one user.
  bool IsInner(const Instruction* i) const {
    return i == last_ || (IsPlainF32(i->shape()) && i->shape().dims == last_->shape().dims &&
                          i->users().size() == 1 && !i->IsRoot() &&
                          i->control_predecessors().empty() && i->control_successors().empty());
  }

  static bool IsLow(float value) {
    return !std::isnan(value) && !(value == 0 && std::signbit(value));
  }
  static bool IsHigh(float value) { return !std::isnan(value) && value != 0; }

  bool Limited(const Instruction* i) {
    if (i->opcode() == Opcode::kClamp) {
      const auto low = LimitOf(i->operand(0)), high = LimitOf(i->operand(2));
      if (!low || !high || !IsLow(*low) || !IsHigh(*high) || !Added(i->operand(1))) return false;
      form_.low = *low, form_.high = *high;
      TakeLimit(i->operand(0));
      TakeLimit(i->operand(2));
      Take(i);
      return true;
    }
    const auto above = [&](const Instruction* x) { return Above(x); };
    if (i->opcode() != Opcode::kMinimum) return Above(i);
    return Limit(i, IsHigh, &form_.high, above);
  }

  bool Above(const Instruction* i) {
    if (i->opcode() != Opcode::kMaximum) return Added(i);
    return Limit(i, IsLow, &form_.low, [&](const Instruction* x) { return Added(x); });
  }

  // A maximum or minimum of a limit and of what `rest` takes.
  template <typename Rest>
  bool Limit(const Instruction* i, bool (*fits)(float), float* to, const Rest& rest) {
    if (!IsInner(i)) return false;
    const int64_t second = LimitOf(i->operand(1)).has_value() ? 1 : 0;
    const std::optional<float> limit = LimitOf(i->operand(second));
    if (!limit || !fits(*limit) || !rest(i->operand(1 - second))) return false;
    *to = *limit;
    TakeLimit(i->operand(second));
    Take(i);
    return true;
  }

  // product, product + bias, product + residual, or product + bias + residual
  bool Added(const Instruction* i) {
    if (!IsInner(i)) return false;
    if (Biased(i)) return true;
    if (i->opcode() != Opcode::kAdd || i->operand(0) == i->operand(1)) return false;
    for (const int64_t side : {0, 1}) {
      const Instruction* other = i->operand(1 - side);
      if (!IsPlainF32(other->shape()) || !Biased(i->operand(side))) continue;
      form_.residual = other;
      Take(i);
      return true;
    }
    return false;
  }

  bool Biased(const Instruction* i) {
    if (!IsInner(i)) return false;
    if (IsFinishedProduct(*i)) {
      form_.product = i;
      Take(i);
      return true;
    }
    if (i->opcode() != Opcode::kAdd) return false;
    for (const int64_t side : {0, 1}) {
      const Instruction *product = i->operand(side), *bias = i->operand(1 - side);
      if (!IsFinishedProduct(*product) || !IsInner(product) ||
          !IsAlongColumns(*bias, last_->shape()))
        continue;
      form_.product = product;
      form_.bias = bias->operand(0);
      Take(product);
      Take(bias);
      Take(i);
      return true;
    }
    return false;
  }

  const Instruction* last_ = nullptr;
  ProductFinish form_;
};

// Tails of any elementwise instructions: what depends on no product is read from memory, and so is
// what others read as well.
class TailWalk {
 public:
  std::optional<ProductFinish> From(const Instruction& last) {
    last_ = &last;
    if (!IsPlainF32(last.shape()) || last.shape().rank() == 0 || !IsStep(last)) return std::nullopt;
    for (int round = 0; round < kMaxRounds; ++round) {
      form_ = ProductFinish();
      form_.is_generated = true;
      members_.clear();
      if (!Take(&last) || form_.product == nullptr) return std::nullopt;
      if (!CutShared()) return std::move(form_);
      if (shared_.contains(form_.product)) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  static constexpr size_t kMaxMembers = 48;
  static constexpr int kMaxRounds = 4;
  // A tile reads little of each row of an array, a page apart: more of them are faster in a loop.
  static constexpr size_t kMaxArrays = 1;

  // An elementwise instruction over arrays of the result's dimensions.
  bool IsStep(const Instruction& i) const {
    const auto fits = [&](const Shape& shape) {
      return shape.IsArray() && !shape.HasDynamicDims() && shape.IsRowMajor() &&
             (shape.type == ElementType::kF32 || shape.type == ElementType::kPred);
    };
    return HasTrait(i.opcode(), kElementwise) && i.called().empty() && i.operand_count() > 0 &&
           fits(i.shape()) && i.shape().dims == last_->shape().dims && CanEmitElement(i) &&
           std::all_of(i.operands().begin(), i.operands().end(), [&](const Instruction* operand) {
             return fits(operand->shape()) &&
                    (operand->shape().dims == i.shape().dims || operand->shape().IsScalar());
           });
  }

  bool DependsOnProduct(const Instruction* i) {
    if (IsFinishedProduct(*i)) return true;
    if (!IsStep(*i) || shared_.contains(i)) return false;
    const auto [at, fresh] = depends_.try_emplace(i, false);
    if (!fresh || depends_.size() > 4 * kMaxMembers) return at->second;
    bool depends = false;
    for (const Instruction* operand : i->operands()) depends |= DependsOnProduct(operand);
    return depends_[i] = depends;
  }

  void Add(const Instruction* i) {
    if (members_.insert(i).second) form_.members.push_back(i);
  }

  bool Take(const Instruction* i) {
    if (members_.contains(i)) return true;
    if (form_.members.size() >= kMaxMembers) return false;
    if (i != last_) {
      if (LimitOf(i).has_value()) {  // a constant
        if (i->opcode() == Opcode::kBroadcast) Add(i->operand(0));
        Add(i);
        return true;
      }
      if (IsAlongColumns(*i, last_->shape()) || IsOfScalar(*i)) {
        form_.columns.push_back(i);
        Add(i);
        return true;
      }
      const bool is_product = form_.product == nullptr && !shared_.contains(i) &&
                              IsFinishedProduct(*i) && IsPlainF32(i->shape()) &&
                              i->shape().dims == last_->shape().dims;
      if (is_product) {
        form_.product = i;
        Add(i);
        return true;
      }
      if (shared_.contains(i) || IsFinishedProduct(*i) || !DependsOnProduct(i)) return Read(i);
    }
    for (const Instruction* operand : i->operands())
      if (!Take(operand)) return false;
    Add(i);
    return true;
  }

  bool Read(const Instruction* i) {
    if (!IsPlainF32(i->shape()) || i->shape().dims != last_->shape().dims) return false;
    if (std::find(form_.arrays.begin(), form_.arrays.end(), i) != form_.arrays.end()) return true;
    form_.arrays.push_back(i);
    return form_.arrays.size() <= kMaxArrays;
  }

  // Notes the members, other than the last, that others need as well; false where there are none.
  bool CutShared() {
    const size_t before = shared_.size();
    for (const Instruction* i : form_.members) {
      if (i == last_ || i->IsConstant() || i->opcode() == Opcode::kBroadcast) continue;
      const bool inside = std::all_of(i->users().begin(), i->users().end(),
                                      [&](const Instruction* u) { return members_.contains(u); });
      if (!inside || i->IsRoot() || !i->control_predecessors().empty() ||
          !i->control_successors().empty())
        shared_.insert(i);
    }
    return shared_.size() > before;
  }

  const Instruction* last_ = nullptr;
  ProductFinish form_;
  absl::flat_hash_set<const Instruction*> members_, shared_;
  absl::flat_hash_map<const Instruction*, bool> depends_;
};

}  // namespace

std::vector<const Instruction*> ProductFinish::Operands() const {
  std::vector<const Instruction*> all = {product->operand(0), product->operand(1), bias, residual};
  for (const Instruction* column : columns) all.push_back(column->operand(0));
  all.insert(all.end(), arrays.begin(), arrays.end());
  return all;
}

std::optional<ProductFinish> FindProductFinish(const Instruction& last) {
  if (auto form = FinishWalk().From(last)) return form;
  return TailWalk().From(last);
}

std::optional<ProductFinish> FindFinishedProduct(const Instruction& fusion) {
  if (fusion.opcode() != Opcode::kFusion || fusion.attr<FusionAttrs>().kind != FusionKind::kCustom)
    return std::nullopt;
  const Computation& body = *fusion.to_apply();
  std::optional<ProductFinish> form = FindProductFinish(*body.root());
  if (!form || !HoldsFormAlone(body, form->members.size(), form->Operands())) return std::nullopt;
  return form;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
