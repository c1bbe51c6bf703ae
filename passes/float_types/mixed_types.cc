// Conversions around operations.
#include "passes/float_types/mixed_types.h"

#include "absl/strings/str_cat.h"
#include "passes/expander.h"
#include "passes/hlo_writer.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool IsProduct(const Instruction* i) {
  return (i->opcode() == Opcode::kDot && i->operand_count() == 2) ||
         i->opcode() == Opcode::kConvolution;
}

// `i` with every operand converted to one type, and a result of that type.
Instruction* Computed(Instruction* i, Rewriter& r, ElementType operands, ElementType result) {
  HloWriter w(r);
  std::vector<Instruction*> converted;
  for (Instruction* operand : i->operands()) converted.push_back(w.Convert(operand, operands));
  return r.Clone(i, RetypedLike(i->shape(), result), converted);
}

// The wider of two types; of types of equal width the float.
ElementType Wider(ElementType a, ElementType b) {
  if (BitWidth(a) != BitWidth(b)) return BitWidth(a) > BitWidth(b) ? a : b;
  return IsFloat(b) && !IsFloat(a) ? b : a;
}

absl::StatusOr<Instruction*> Upcast(Instruction* i, Rewriter& r) {
  if (!IsProduct(i)) return nullptr;
  const ElementType type = i->shape().type;
  const ElementType a = i->operand(0)->shape().type, b = i->operand(1)->shape().type;
  if ((a == type && b == type) || BitWidth(Wider(a, b)) > BitWidth(type)) return nullptr;
  return Computed(i, r, type, type);
}

absl::StatusOr<Instruction*> CastResult(Instruction* i, Rewriter& r) {
  if (!IsProduct(i)) return nullptr;
  const ElementType type = i->shape().type;
  const ElementType wide = Wider(i->operand(0)->shape().type, i->operand(1)->shape().type);
  if (BitWidth(wide) <= BitWidth(type)) return nullptr;
  Instruction* product = Computed(i, r, wide, wide);
  return r.Add(Opcode::kConvert, i->shape(), {product});
}

absl::StatusOr<Instruction*> ChangeType(Instruction* i, Rewriter& r, ElementType from,
                                        ElementType to) {
  if (!IsProduct(i) || i->shape().type != from) return nullptr;
  for (const Instruction* operand : i->operands())
    if (operand->shape().type != from) return nullptr;
  return r.Add(Opcode::kConvert, i->shape(), {Computed(i, r, to, to)});
}

ElementType PromotedType(ElementType type) {
  switch (type) {
    case ElementType::kU16:
      return ElementType::kU32;
    case ElementType::kS16:
      return ElementType::kS32;
    case ElementType::kBF16:
    case ElementType::kF16:
      return ElementType::kF32;
    default:
      return ElementType::kInvalid;
  }
}

absl::StatusOr<Instruction*> Promote(Instruction* i, Rewriter& r) {
  if ((i->opcode() != Opcode::kAllReduce && i->opcode() != Opcode::kReduceScatter) ||
      !i->shape().IsArray())
    return nullptr;
  const ElementType type = PromotedType(i->shape().type);
  const auto opcode = ReducerOpcode(*i->to_apply());
  if (type == ElementType::kInvalid || !opcode) return nullptr;
  Instruction* wide = Computed(i, r, type, type);
  Computation* reducer = MakeReducer(*i->module(), *opcode, type);
  reducer->set_name(
      i->module()->UniqueComputationName(absl::StrCat(i->to_apply()->name(), "_promoted")));
  wide->set_called({reducer});
  return r.Add(Opcode::kConvert, i->shape(), {wide});
}

ElementType TypeOption(PassArguments& arguments, absl::string_view name,
                       absl::string_view otherwise, absl::string_view help) {
  return ElementTypeFromText(arguments.String(name, otherwise, help))
      .value_or(ElementType::kInvalid);
}

}  // namespace

std::unique_ptr<Pass> CreateOperandUpcaster() { return MakeExpander("operand_upcaster", Upcast); }
std::unique_ptr<Pass> CreateResultCaster() { return MakeExpander("result_caster", CastResult); }
std::unique_ptr<Pass> CreateAllReducePromotion() {
  return MakeExpander("all-reduce-promotion", Promote);
}

std::unique_ptr<Pass> CreateChangeOpDataType(PassArguments& arguments) {
  const ElementType from = TypeOption(arguments, "from", "f16", "the type of dots to change");
  const ElementType to = TypeOption(arguments, "to", "f32", "the type to compute in");
  return MakeExpander("change-op-data-type",
                      [from, to](Instruction* i, Rewriter& r) -> absl::StatusOr<Instruction*> {
                        if (!IsArrayType(from) || !IsArrayType(to))
                          return InvalidArgument(
                              "change-op-data-type: from and to are types, "
                              "such as f16 and f32");
                        return ChangeType(i, r, from, to);
                      });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
