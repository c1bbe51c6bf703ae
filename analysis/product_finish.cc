// A walk from the last instruction down to the product; members are listed on the way back.
#include "analysis/product_finish.h"

#include <algorithm>
#include <cmath>

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
      if (!IsFinishedProduct(*product) || !IsInner(product) || !IsBias(*bias)) continue;
      form_.product = product;
      form_.bias = bias->operand(0);
      Take(product);
      Take(bias);
      Take(i);
      return true;
    }
    return false;
  }

  // A broadcast along the columns.
  bool IsBias(const Instruction& i) const {
    return i.opcode() == Opcode::kBroadcast && IsPlainF32(i.operand(0)->shape()) &&
           i.operand(0)->shape().rank() == 1 &&
           i.attr<BroadcastAttrs>().dimensions == DimVector{last_->shape().rank() - 1};
  }

  const Instruction* last_ = nullptr;
  ProductFinish form_;
};

}  // namespace

std::optional<ProductFinish> FindProductFinish(const Instruction& last) {
  return FinishWalk().From(last);
}

std::optional<ProductFinish> FindFinishedProduct(const Instruction& fusion) {
  if (fusion.opcode() != Opcode::kFusion || fusion.attr<FusionAttrs>().kind != FusionKind::kCustom)
    return std::nullopt;
  const Computation& body = *fusion.to_apply();
  std::optional<ProductFinish> form = FindProductFinish(*body.root());
  if (!form || !HoldsFormAlone(body, form->members.size(),
                               {form->product->operand(0), form->product->operand(1), form->bias,
                                form->residual}))
    return std::nullopt;
  return form;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
