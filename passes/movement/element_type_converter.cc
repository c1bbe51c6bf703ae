// element_type_converter: computes in another element type instead of one that the target lacks.
// Matches arithmetic, dots and convolutions with a result or an operand of one float type; leaves
// the operation in another, with conversions before and after it. Operations that call
// computations and those that only move data stay. Results round once, in the end. Options:
// from=TYPE (bf16), to=TYPE (f32). Cost: linear.
//   add(bf16 x, bf16 y) -> convert(add(convert(x), convert(y)))
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {
namespace {

bool Computes(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kDot:
    case Opcode::kConvolution:
      return true;
    case Opcode::kConvert:
    case Opcode::kBitcastConvert:
    case Opcode::kCopy:
    case Opcode::kSelect:
    case Opcode::kReducePrecision:
    case Opcode::kStochasticConvert:
      return false;
    default:
      return HasTrait(i->opcode(), kElementwise) && i->operand_count() > 0;
  }
}

class ElementTypeConverter final : public ComputationPass {
 public:
  ElementTypeConverter(std::optional<ElementType> from, std::optional<ElementType> to)
      : from_(from), to_(to) {}
  absl::string_view name() const override { return "element_type_converter"; }

  absl::StatusOr<bool> RunOnComputation(Computation& computation) override {
    for (const std::optional<ElementType>& type : {from_, to_})
      if (!type || !IsFloat(*type))
        return absl::InvalidArgumentError("element_type_converter: from and to are float types");
    bool changed = false;
    for (Instruction* i : computation.PostOrder()) {
      if (!Computes(i) || !Uses(i) || HasControlEdges(*i) || (i->users().empty() && !i->IsRoot()) ||
          !control().Permit(name(), *i, *i))
        continue;
      Convert(i);
      changed = true;
    }
    return changed;
  }

 private:
  bool Uses(const Instruction* i) const {
    if (!i->shape().IsArray()) return false;
    bool uses = i->shape().type == *from_;
    for (const Instruction* x : i->operands()) uses |= x->shape().type == *from_;
    return uses;
  }

  Instruction* In(Instruction* x, ElementType wanted, ElementType now, Rewriter& r) const {
    return x->shape().type == now ? r.Add(Opcode::kConvert, x->shape().WithType(wanted), {x}) : x;
  }

  void Convert(Instruction* i) {
    Rewriter r(*i->parent());
    r.set_subject(i);
    std::vector<Instruction*> operands;
    for (Instruction* x : i->operands()) operands.push_back(In(x, *to_, *from_, r));
    const bool own = i->shape().type == *from_;
    Instruction* made = r.Clone(i, own ? i->shape().WithType(*to_) : i->shape(), operands);
    if (own) made = r.Add(Opcode::kConvert, i->shape(), {made});
    i->ReplaceAllUsesWith(made);
    i->parent()->Remove(i);
  }

  std::optional<ElementType> from_, to_;
};

}  // namespace

std::unique_ptr<Pass> CreateElementTypeConverter(PassArguments& arguments) {
  const std::string from = arguments.String("from", "bf16", "the type to avoid");
  const std::string to = arguments.String("to", "f32", "the type to compute in");
  return std::make_unique<ElementTypeConverter>(ElementTypeFromText(from), ElementTypeFromText(to));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
