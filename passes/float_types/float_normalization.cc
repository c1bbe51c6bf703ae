// float-normalization-T: computes in a wider type what is written in a narrow one.
//
// Narrow types computed in wider ones.
#include "absl/container/flat_hash_set.h"
#include "passes/cleanup/dce.h"
#include "passes/cleanup/tuple_simplifier.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"
#include "support/status.h"

namespace hlokit {
namespace {

struct Widening {
  ElementType low, high;
};

bool StaysNarrow(Opcode opcode, const Widening& types) {
  switch (opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kBitcastConvert:
    case Opcode::kConvert:
    case Opcode::kStochasticConvert:
    case Opcode::kCopy:
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kWhile:
    case Opcode::kFusion:
    case Opcode::kCustomCall:
    case Opcode::kDomain:
    case Opcode::kOptimizationBarrier:
    case Opcode::kAddDependency:
    case Opcode::kTopK:
    case Opcode::kScan:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kSend:
    case Opcode::kRecv:
    case Opcode::kRng:
    case Opcode::kRngBitGenerator:
      return true;
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:  // give 0 where nothing is sent, which f8e8m0fnu has not
      return types.low == ElementType::kF8E8M0FNU;
    case Opcode::kShiftRightLogical:
    case Opcode::kCountLeadingZeros:
    case Opcode::kPopulationCount:
    case Opcode::kMulhi:
      return IsInteger(types.low);
    case Opcode::kShiftRightArithmetic:
      return IsUnsigned(types.low);  // the highest bit of the narrow type is what is shifted in
    default:
      return HasTrait(opcode, kAsyncStart) || HasTrait(opcode, kAsyncDone) ||
             opcode == Opcode::kAsyncUpdate || opcode == Opcode::kCopyStart;
  }
}

bool Involves(const Shape& shape, ElementType type) {
  if (!shape.IsTuple()) return shape.type == type;
  for (const Shape& part : shape.elements)
    if (part.IsArray() && part.type == type) return true;
  return false;
}

Shape Widened(const Shape& shape, const Widening& types) {
  if (!shape.IsTuple()) return shape.type == types.low ? RetypedLike(shape, types.high) : shape;
  Shape result = shape;
  for (Shape& part : result.elements)
    if (part.type == types.low) part = RetypedLike(part, types.high);
  return result;
}

// The values of a function's parameter, which are exact in the narrow type, in either type.
void WidenParameter(Instruction* parameter, Rewriter& r, const Widening& types) {
  const Shape narrow = parameter->shape();
  const std::vector<Instruction*> users(parameter->users().begin(), parameter->users().end());
  Computation& c = *parameter->parent();
  parameter->set_shape(RetypedLike(narrow, types.high));
  Instruction* low = nullptr;
  for (Instruction* user : users) {
    if (user->opcode() == Opcode::kConvert && user->shape().type == types.high) {
      user->ReplaceAllUsesWith(parameter);
      c.Remove(user);
      continue;
    }
    if (low == nullptr) low = r.Add(Opcode::kConvert, narrow, {parameter});
    parameter->ReplaceUseIn(user, low);
  }
  if (parameter->IsRoot()) c.set_root(parameter);
}

// The function on wide scalars: what it gives is rounded to the narrow type each time, as where the
// function is narrow.
Computation* WithWideScalars(Computation& function, const Widening& types) {
  bool any = Involves(function.root()->shape(), types.low);
  for (Instruction* parameter : function.parameters()) any |= parameter->shape().type == types.low;
  if (!any) return &function;
  Computation* copy = function.Clone(".clone");
  Rewriter r(*copy);
  HloWriter w(r);
  for (Instruction* parameter : copy->parameters())
    if (parameter->shape().type == types.low) WidenParameter(parameter, r, types);
  Instruction* root = copy->root();
  if (root->shape().IsArray()) {
    copy->set_root(root->shape().type == types.low ? w.Convert(root, types.high) : root);
    RemoveDead(*copy);
    return copy;
  }
  std::vector<Instruction*> parts;
  for (size_t k = 0; k < root->shape().elements.size(); ++k) {
    Instruction* part = root->opcode() == Opcode::kTuple ? root->operand(k) : w.Part(root, k);
    parts.push_back(part->shape().type == types.low ? w.Convert(part, types.high) : part);
  }
  copy->set_root(w.Tuple(parts));
  RemoveDead(*copy);
  return copy;
}

// The conversions back to the narrow type that the rewrite made itself.
using Narrowed = absl::flat_hash_set<const Instruction*>;

// True if nothing computes with `i`: it is the result of its computation, or an element of that.
bool IsResult(const Instruction* i) {
  for (const Instruction* user : i->users())
    if (user->opcode() != Opcode::kTuple || !user->IsRoot()) return false;
  return true;
}

// Of wide(narrow(x)), where the rounding changes nothing, or is the rewrite's own and right before
// a result (XLA leaves all of its own out): x. Else null.
Instruction* WithoutRounding(Instruction* i, const Narrowed& own, const Widening& types) {
  if (i->opcode() != Opcode::kConvert || i->shape().type != types.high) return nullptr;
  Instruction* narrow = i->operand(0);
  if (narrow->opcode() != Opcode::kConvert || narrow->shape().type != types.low) return nullptr;
  Instruction* x = narrow->operand(0);
  if (!SameShape(x->shape(), i->shape())) return nullptr;
  if (own.contains(narrow) && IsResult(i)) return x;
  if (!HasTrait(x->opcode(), kPicksElements)) return nullptr;
  // The negative of an integer may be none of the narrow type: -(-8) is -8 there.
  const bool negates = x->opcode() == Opcode::kNegate || x->opcode() == Opcode::kAbs;
  if (negates && !IsFloat(types.low)) return nullptr;
  for (const Instruction* operand : x->operands()) {
    const bool widened =
        operand->opcode() == Opcode::kConvert && operand->operand(0)->shape().type == types.low;
    if (operand->shape().type == types.high && !widened) return nullptr;
  }
  return x;
}

// `x` in the wide type; a conversion that is there already, and waits for nothing, serves again.
Instruction* Wide(HloWriter& w, Instruction* x, const Widening& types) {
  constexpr size_t kLookedAt = 64;  // of the users: a constant may have very many
  if (x->shape().type != types.low) return x;
  const Shape wanted = RetypedLike(x->shape(), types.high);
  for (Instruction* user : x->users().subspan(0, kLookedAt))
    if (user->opcode() == Opcode::kConvert && SameShape(user->shape(), wanted) &&
        user->control_predecessors().empty())
      return user;
  return w.Convert(x, types.high);
}

absl::StatusOr<Instruction*> Normalize(Instruction* i, Rewriter& r, Narrowed& own,
                                       const Widening& types) {
  if (Instruction* x = WithoutRounding(i, own, types)) return x;
  if (StaysNarrow(i->opcode(), types)) return nullptr;
  bool any = Involves(i->shape(), types.low);
  for (const Instruction* operand : i->operands()) any |= Involves(operand->shape(), types.low);
  if (!any) return nullptr;
  HloWriter w(r);
  std::vector<Instruction*> operands;
  for (Instruction* operand : i->operands()) operands.push_back(Wide(w, operand, types));
  Instruction* made = r.Clone(i, Widened(i->shape(), types), operands);
  std::vector<Computation*> functions;
  for (Computation* function : i->called()) functions.push_back(WithWideScalars(*function, types));
  made->set_called(std::move(functions));
  if (!i->shape().IsTuple()) {
    if (i->shape().type != types.low) return made;
    Instruction* narrow = r.Add(Opcode::kConvert, i->shape(), {made});
    if (IsFloat(types.low)) own.insert(narrow);  // integers wrap
    return narrow;
  }
  std::vector<Instruction*> parts;
  for (size_t k = 0; k < i->shape().elements.size(); ++k) {
    const Shape& wanted = i->shape().elements[k];
    Instruction* part = w.Part(made, k);
    parts.push_back(wanted.type == types.low ? r.Add(Opcode::kConvert, wanted, {part}) : part);
  }
  return w.Tuple(parts);
}

// The rewrite; tuples that it decomposed are removed.
class Normalization final : public Pass {
 public:
  Normalization(absl::string_view name, Widening types)
      : name_(name),
        rewrite_(MakeExpander(
            name,
            [this, types](Instruction* i, Rewriter& r) { return Normalize(i, r, own_, types); },
            {.everywhere = true})) {}
  absl::string_view name() const override { return name_; }
  absl::StatusOr<bool> Run(Module& module) override {
    own_.clear();
    rewrite_->set_control(&control());
    ASSIGN_OR_RETURN(const bool changed, rewrite_->Run(module));
    if (!changed) return false;
    RETURN_IF_ERROR(CreateTupleSimplifier()->Run(module).status());
    RETURN_IF_ERROR(CreateDce()->Run(module).status());
    return true;
  }

 private:
  absl::string_view name_;
  Narrowed own_;
  std::unique_ptr<Pass> rewrite_;
};

std::unique_ptr<Pass> Make(absl::string_view name, ElementType low, ElementType high) {
  return std::make_unique<Normalization>(name, Widening{low, high});
}

}  // namespace

#define NORMALIZATION(factory, text, low, high)                                    \
  std::unique_ptr<Pass> CreateFloatNormalization##factory() {                      \
    return Make("float-normalization-" text, ElementType::low, ElementType::high); \
  }
NORMALIZATION(Bf16, "bf16", kBF16, kF32)
NORMALIZATION(F8e5m2, "f8e5m2", kF8E5M2, kF16)
NORMALIZATION(F8e4m3, "f8e4m3", kF8E4M3, kF16)
NORMALIZATION(F8e4m3fn, "f8e4m3fn", kF8E4M3FN, kF16)
NORMALIZATION(F8e4m3b11fnuz, "f8e4m3b11fnuz", kF8E4M3B11FNUZ, kF16)
NORMALIZATION(F8e5m2fnuz, "f8e5m2fnuz", kF8E5M2FNUZ, kF16)
NORMALIZATION(F8e4m3fnuz, "f8e4m3fnuz", kF8E4M3FNUZ, kF16)
NORMALIZATION(F8e3m4, "f8e3m4", kF8E3M4, kF16)
NORMALIZATION(F8e8m0fnu, "f8e8m0fnu", kF8E8M0FNU, kF32)
NORMALIZATION(F4e2m1fn, "f4e2m1fn", kF4E2M1FN, kF16)
NORMALIZATION(S4, "s4", kS4, kS8)
NORMALIZATION(U4, "u4", kU4, kU8)
#undef NORMALIZATION

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
