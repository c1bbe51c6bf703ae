// Conversions around dots, convolutions, collectives and choices whose operands' types a target
// does not compute in; the header lists the passes.
//   dot(s4, s4) -> s32   ->   dot(convert(s4 -> s32), convert(s4 -> s32))
// A rule gives the types of operands and result, Computed() writes the conversions. Linear.
#include "passes/float_types/mixed_types.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "support/status.h"

namespace hlokit {

bool IsProduct(const Instruction* i) {
  return (i->opcode() == Opcode::kDot && i->operand_count() == 2) ||
         i->opcode() == Opcode::kConvolution;
}

int ValueBits(ElementType type) { return IsPred(type) ? 1 : BitWidth(type); }

bool WidensToF32(const Instruction* i) {
  return i->opcode() == Opcode::kConvert && i->shape().type == ElementType::kF32;
}

namespace {

// `i` with every operand converted to one type, and a result of that type.
Instruction* Computed(Instruction* i, Rewriter& r, ElementType operands, ElementType result) {
  HloWriter w(r);
  std::vector<Instruction*> converted;
  for (Instruction* operand : i->operands()) converted.push_back(w.Convert(operand, operands));
  return r.Clone(i, RetypedLike(i->shape(), result), converted);
}

// The wider of two types; of types of equal width the float.
ElementType Wider(ElementType a, ElementType b) {
  if (ValueBits(a) != ValueBits(b)) return ValueBits(a) > ValueBits(b) ? a : b;
  return IsFloat(b) && !IsFloat(a) ? b : a;
}

absl::StatusOr<Instruction*> Upcast(Instruction* i, Rewriter& r) {
  if (!IsProduct(i)) return nullptr;
  const ElementType type = i->shape().type;
  const ElementType a = i->operand(0)->shape().type, b = i->operand(1)->shape().type;
  if ((a == type && b == type) || ValueBits(Wider(a, b)) > ValueBits(type)) return nullptr;
  return Computed(i, r, type, type);
}

absl::StatusOr<Instruction*> CastResult(Instruction* i, Rewriter& r) {
  if (!IsProduct(i)) return nullptr;
  const ElementType type = i->shape().type;
  const ElementType wide = Wider(i->operand(0)->shape().type, i->operand(1)->shape().type);
  if (ValueBits(wide) <= ValueBits(type)) return nullptr;
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

// Products of fewer multiplications are computed in place, whatever their types.
constexpr double kFewMultiplications = 512;

double Multiplications(const Instruction* product) {
  const auto results = static_cast<double>(product->shape().ElementCount());
  const Shape& rhs = product->operand(1)->shape();
  if (product->opcode() == Opcode::kConvolution) {
    const auto& dims = product->attr<ConvolutionAttrs>().dim_labels;
    return results * static_cast<double>(rhs.ElementCount()) /
           static_cast<double>(std::max<int64_t>(1, rhs.dims[dims.kernel_output_feature]));
  }
  double sums = 1;
  for (int64_t d : product->opcode() == Opcode::kDot
                       ? product->attr<DotAttrs>().rhs_contracting_dims
                       : product->attr<RaggedDotAttrs>().rhs_contracting_dims)
    sums *= static_cast<double>(rhs.dims[d]);
  return results * sums;
}

// The narrowest type that holds all values of an operand's and that matrix kernels read, where the
// result is a float or an integer; kInvalid if they have none.
ElementType KernelOperand(ElementType type, bool of_float) {
  if (IsFloat(type)) {
    if (!of_float || BitWidth(type) > 8) return of_float ? type : ElementType::kInvalid;
    // 2^-127 is subnormal in bf16, whose products flush it.
    return type == ElementType::kF8E8M0FNU ? ElementType::kF32 : ElementType::kBF16;
  }
  if (!IsInteger(type) && !IsPred(type)) return ElementType::kInvalid;
  if (of_float) return BitWidth(type) <= 8 ? ElementType::kBF16 : ElementType::kInvalid;
  if (IsPred(type)) return ElementType::kU8;
  if (!IsSubByte(type)) return type;
  return IsSigned(type) ? ElementType::kS8 : ElementType::kU8;
}

ElementType KernelResult(ElementType type) {
  if (IsFloat(type)) return BitWidth(type) > 8 ? type : ElementType::kF32;
  if (!IsInteger(type) || !IsSubByte(type)) return IsInteger(type) ? type : ElementType::kInvalid;
  return IsSigned(type) ? ElementType::kS8 : ElementType::kU8;
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

// A product of complex numbers that is stated as real, its real part, or of floats that is stated
// as whole: computed in the operands' type and converted.
Instruction* ConvertedProduct(Instruction* i, Rewriter& r) {
  const ElementType type = i->shape().type;
  const ElementType a = i->operand(0)->shape().type, b = i->operand(1)->shape().type;
  const auto convert = [&](bool first, bool second, ElementType least) {
    const ElementType wide = first && second ? Wider(a, b) : first ? a : b;
    const ElementType own = BitWidth(wide) < BitWidth(least) ? least : wide;
    return HloWriter(r).Convert(Computed(i, r, own, own), type);
  };
  if (IsComplex(type)) return nullptr;
  if (IsComplex(a) || IsComplex(b)) return convert(IsComplex(a), IsComplex(b), ElementType::kC64);
  if (IsFloat(type) || !(IsFloat(a) || IsFloat(b))) return nullptr;
  return convert(IsFloat(a), IsFloat(b), ElementType::kF32);
}

}  // namespace

Instruction* WidenChoice(Instruction* choice, Rewriter& rewriter) {
  if (choice->opcode() != Opcode::kMaximum && choice->opcode() != Opcode::kMinimum) return nullptr;
  if (choice->operand(0)->shape().type == choice->operand(1)->shape().type) return nullptr;
  return Computed(choice, rewriter, choice->shape().type, choice->shape().type);
}

Instruction* WidenNarrowOperands(Instruction* i, Rewriter& r) {
  if (!IsProduct(i) && i->opcode() != Opcode::kRaggedDot) return nullptr;
  if (Instruction* whole = ConvertedProduct(i, r); whole != nullptr) return whole;
  if (i->shape().HasDynamicDims() || Multiplications(i) <= kFewMultiplications) return nullptr;
  const ElementType type = i->shape().type, result = KernelResult(type);
  const ElementType from[] = {i->operand(0)->shape().type, i->operand(1)->shape().type};
  const ElementType to[] = {KernelOperand(from[0], IsFloat(type)),
                            KernelOperand(from[1], IsFloat(type))};
  for (const ElementType known : {result, to[0], to[1]})
    if (known == ElementType::kInvalid) return nullptr;
  if (result == type && to[0] == from[0] && to[1] == from[1]) return nullptr;
  HloWriter w(r);
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  for (int o = 0; o < 2; ++o) operands[o] = w.Convert(operands[o], to[o]);
  return w.Convert(r.Clone(i, RetypedLike(i->shape(), result), operands), type);
}

std::unique_ptr<Pass> CreateOperandUpcaster() { return MakeExpander("operand_upcaster", Upcast); }
std::unique_ptr<Pass> CreateNarrowOperandUpcaster() {
  return MakeExpander("narrow-operand-upcaster", WidenNarrowOperands);
}
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
