// A walk from the last product back to the first. Each step accepts one opcode; the member list
// grows as the walk returns, so that operands stand before users.
#include "analysis/attention_form.h"

#include <algorithm>
#include <cmath>

#include "analysis/form_body.h"
#include "ir/computation.h"
#include "types/literal.h"

namespace hlokit {
namespace {

// Kept small: heads of 8,192 keys and depth 256 take 16 MB packed.
constexpr int64_t kMaxDepth = 512;
constexpr size_t kMaxBatchDims = 6;  // as runtime/attention takes

// The f32 that every element of a broadcast of a scalar constant is.
std::optional<double> Splat(const Instruction* i) {
  if (i->opcode() != Opcode::kBroadcast || !i->operand(0)->IsConstant() ||
      !i->operand(0)->shape().IsScalar() || i->operand(0)->literal() == nullptr)
    return std::nullopt;
  return i->operand(0)->literal()->GetDouble(0);
}

// Whether `i` reduces the last dimension of an array by `opcode`, from its identity element.
bool ReducesLast(const Instruction* i, Opcode opcode, double identity) {
  if (i->opcode() != Opcode::kReduce || i->operand_count() != 2 || !i->shape().IsArray())
    return false;
  const Instruction& start = *i->operand(1);
  const Computation& reducer = *i->to_apply();
  const int64_t last = i->operand(0)->shape().rank() - 1;
  return i->attr<DimensionsAttrs>().dimensions == DimVector{last} && start.IsConstant() &&
         start.literal() != nullptr && start.literal()->GetDouble(0) == identity &&
         reducer.root()->opcode() == opcode && reducer.parameter_count() == 2 &&
         reducer.instruction_count() == 3 &&
         reducer.root()->operand(0) != reducer.root()->operand(1);
}

// Dimensions 0, 1, ... of an array of one less.
bool IsAlongRows(const Instruction* broadcast) {
  const DimVector& dims = broadcast->attr<BroadcastAttrs>().dimensions;
  for (size_t k = 0; k < dims.size(); ++k)
    if (dims[k] != static_cast<int64_t>(k)) return false;
  return static_cast<int64_t>(dims.size()) == broadcast->shape().rank() - 1;
}

class FormWalk {
 public:
  std::optional<AttentionForm> From(const Instruction& product) {
    if (!IsProduct(product) || !Probabilities(product.operand(0))) return std::nullopt;
    form_.product = &product;
    Take(&product);
    if (!DimensionsFit() || IsUsedElsewhere()) return std::nullopt;
    return std::move(form_);
  }

 private:
  static bool IsProduct(const Instruction& dot) {
    if (dot.opcode() != Opcode::kDot || dot.operand_count() != 2) return false;
    const auto& a = dot.attr<DotAttrs>();
    if (a.lhs_contracting_dims.size() != 1 || !a.algorithm.text.empty() ||
        a.lhs_batch_dims.size() > kMaxBatchDims)
      return false;
    const auto rank = static_cast<int64_t>(a.lhs_batch_dims.size()) + 2;
    for (const Instruction* operand : dot.operands())
      if (operand->shape().type != ElementType::kF32 || operand->shape().rank() != rank ||
          operand->shape().HasDynamicDims())
        return false;
    return dot.shape().type == ElementType::kF32;
  }

  void Take(const Instruction* i) {
    if (std::find(form_.members.begin(), form_.members.end(), i) == form_.members.end())
      form_.members.push_back(i);
  }
  void TakeWithOperands(const Instruction* i) {
    for (const Instruction* operand : i->operands()) Take(operand);
    Take(i);
  }

  // e / sum(e)
  bool Probabilities(const Instruction* i) {
    if (i->opcode() != Opcode::kDivide) return false;
    const Instruction *e = i->operand(0), *sums = i->operand(1);
    if (sums->opcode() != Opcode::kBroadcast || !IsAlongRows(sums)) return false;
    const Instruction* sum = sums->operand(0);
    if (!ReducesLast(sum, Opcode::kAdd, 0) || sum->operand(0) != e || !Exponentials(e))
      return false;
    Take(sum->operand(1));
    Take(sum);
    TakeWithOperands(i);
    return true;
  }

  // exp(x - max(x))
  bool Exponentials(const Instruction* i) {
    if (i->opcode() != Opcode::kExponential || i->operand(0)->opcode() != Opcode::kSubtract)
      return false;
    const Instruction* difference = i->operand(0);
    const Instruction *x = difference->operand(0), *most = difference->operand(1);
    if (most->opcode() != Opcode::kBroadcast || !IsAlongRows(most)) return false;
    const Instruction* max = most->operand(0);
    if (!ReducesLast(max, Opcode::kMaximum, -INFINITY) || max->operand(0) != x || !Masked(x))
      return false;
    Take(max->operand(1));
    Take(max);
    TakeWithOperands(difference);
    Take(i);
    return true;
  }

  // x, where the mask lets it be seen.
  bool Masked(const Instruction* i) {
    if (i->opcode() != Opcode::kSelect) return Scaled(i);
    const std::optional<double> masked = Splat(i->operand(2));
    if (!masked || !Scaled(i->operand(1))) return false;
    const Instruction* mask = i->operand(0);
    form_.masked = *masked;
    form_.mask = mask;
    if (mask->opcode() == Opcode::kBroadcast) {
      form_.mask = mask->operand(0);
      form_.mask_dims = mask->attr<BroadcastAttrs>().dimensions;
      Take(mask);
    } else {
      for (int64_t d = 0; d < mask->shape().rank(); ++d) form_.mask_dims.push_back(d);
    }
    if (form_.mask->IsConstant()) return false;  // whose value may be large: not a member
    Take(i->operand(2)->operand(0));
    Take(i->operand(2));
    Take(i);
    return !form_.mask->shape().HasDynamicDims();
  }

  // scores * scale, or scores / (a power of two)
  bool Scaled(const Instruction* i) {
    if (i->opcode() == Opcode::kDot) {
      if (!IsProduct(*i)) return false;
      form_.scores = i;
      Take(i);
      return true;
    }
    if (i->opcode() != Opcode::kMultiply && i->opcode() != Opcode::kDivide) return false;
    int exponent = 0;
    const bool divides = i->opcode() == Opcode::kDivide;
    const bool second = divides || Splat(i->operand(1)).has_value();
    const Instruction* factor = i->operand(second ? 1 : 0);
    const std::optional<double> scale = Splat(factor);
    if (!scale || form_.scores != nullptr) return false;
    if (divides && std::frexp(*scale, &exponent) != 0.5) return false;
    if (i->operand(second ? 0 : 1)->opcode() != Opcode::kDot) return false;
    form_.scale = divides ? 1 / *scale : *scale;
    if (!Scaled(i->operand(second ? 0 : 1))) return false;
    Take(factor->operand(0));
    Take(factor);
    Take(i);
    return true;
  }

  // The scores are [batch..., rows, keys]; the product contracts keys, and its batch dimensions are
  // theirs.
  bool DimensionsFit() const {
    const auto &s = form_.scores->attr<DotAttrs>(), &p = form_.product->attr<DotAttrs>();
    const Shape& scores = form_.scores->shape();
    const auto batch = static_cast<int64_t>(s.lhs_batch_dims.size());
    if (static_cast<int64_t>(p.lhs_batch_dims.size()) != batch ||
        p.lhs_contracting_dims[0] != batch + 1)
      return false;
    for (const int64_t d : p.lhs_batch_dims)
      if (d >= batch) return false;
    const Shape& queries = form_.scores->operand(0)->shape();
    return queries.dims[s.lhs_contracting_dims[0]] <= kMaxDepth &&
           form_.product->shape().dims.back() <= kMaxDepth && scores.dims[batch + 1] > 0 &&
           form_.product->shape().ElementCount() > 0;
  }

  static bool IsCheap(const Instruction* i) {
    return i->IsConstant() || i->opcode() == Opcode::kBroadcast;
  }

  bool IsUsedElsewhere() const {
    for (const Instruction* i : form_.members) {
      if (i == form_.product || IsCheap(i)) continue;
      if (i->IsRoot() || !i->control_predecessors().empty() || !i->control_successors().empty())
        return true;
      for (const Instruction* user : i->users())
        if (std::find(form_.members.begin(), form_.members.end(), user) == form_.members.end())
          return true;
    }
    return false;
  }

  AttentionForm form_;
};

}  // namespace

std::optional<AttentionForm> FindAttention(const Instruction& product) {
  return FormWalk().From(product);
}

std::optional<AttentionForm> FindAttentionFusion(const Instruction& fusion) {
  if (fusion.opcode() != Opcode::kFusion || fusion.attr<FusionAttrs>().kind != FusionKind::kCustom)
    return std::nullopt;
  const Computation& body = *fusion.to_apply();
  if (body.root()->opcode() != Opcode::kDot) return std::nullopt;
  std::optional<AttentionForm> form = FindAttention(*body.root());
  if (!form || !HoldsFormAlone(body, form->members.size(),
                               {form->scores->operand(0), form->scores->operand(1),
                                form->product->operand(1), form->mask}))
    return std::nullopt;
  return form;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
