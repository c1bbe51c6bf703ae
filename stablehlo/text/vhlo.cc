// The dialect vhlo in MLIR text: what portable artifacts hold, as MLIR prints it.
//
//   vhlo.func_v1 @main(%arg0: !vhlo.tensor_v1<4x!vhlo.f32_v1>) -> (!vhlo.tensor_v1<4x!vhlo.f32_v1>)
//   {
//     %0 = "vhlo.add_v1"(%arg0, %arg0) : (...) -> !vhlo.tensor_v1<4x!vhlo.f32_v1>
//     "vhlo.return_v1"(%0) : (!vhlo.tensor_v1<4x!vhlo.f32_v1>) -> ()
//   } {arg_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"public">}
//
// Names lose their versions: operations become those of stablehlo and func, as in bytecode.
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "stablehlo/ir/element_types.h"
#include "stablehlo/text/text_reader_internal.h"

namespace hlokit {

// `vhlo.none_v1` stands for an attribute that is absent.
void MlirTextReader::DropAbsent(MlirAttributes& attributes) {
  std::erase_if(attributes, [](const auto& named) {
    return named.second->kind == MlirAttribute::Kind::kType &&
           named.second->type->kind == MlirType::Kind::kNone;
  });
}

// `vhlo.func_v1 @name(...) -> (...) {...} {attributes}`.
bool MlirTextReader::ReadVhloFunction(MlirOperation& op) {
  return ReadFunction(op) && ReadOptionalDictionary(op.attributes);
}

// `<!vhlo.i8_v1:!vhlo.f32_v1, 0.5:3, -128:127, 1>`, and along an axis
// `<..., 1, {0.5, 0.25}, {3, 0}, -128:127, 1>`.
bool MlirTextReader::ReadVhloQuantized(bool per_axis, MlirType& made) {
  const MlirType *storage = nullptr, *expressed = nullptr;
  auto element = std::make_shared<QuantizedElement>();
  s_.Skip();
  const SourcePlace place = {s_.offset(), 1};
  if (!s_.Expect("<") || !ReadType(storage) || !s_.Expect(":") || !ReadType(expressed) ||
      !s_.Expect(","))
    return false;
  if (!IsInteger(storage->shape.type) || BitWidth(storage->shape.type) > 32 ||
      !IsFloat(expressed->shape.type))
    return s_.FailAt(place, "a quantized type of ", Text(*storage), " and ", Text(*expressed));
  const auto scale = [&] {
    double& value = element->scales.emplace_back();
    return (absl::SimpleAtod(s_.Number(), &value) && std::isfinite(value) && value > 0) ||
           s_.Fail("expected a scale above 0");
  };
  if (per_axis) {
    if (!s_.Int(element->dimension) || !s_.Expect(",") || !s_.Expect("{")) return false;
    do {
      if (!scale()) return false;
    } while (s_.Try(","));
    if (!s_.Expect("}") || !s_.Expect(",") || !s_.Expect("{")) return false;
    do {
      if (!s_.Int(element->zero_points.emplace_back())) return false;
    } while (s_.Try(","));
    if (!s_.Expect("}")) return false;
  } else if (!scale() || !s_.Expect(":") || !s_.Int(element->zero_points.emplace_back())) {
    return false;
  }
  int64_t flags = 0;
  if (!s_.Expect(",") || !s_.Int(element->least) || !s_.Expect(":") || !s_.Int(element->greatest) ||
      !s_.Expect(",") || !s_.Int(flags) || !s_.Expect(">"))
    return false;
  made.kind = MlirType::Kind::kScalar;
  made.shape = Shape::Scalar(
      MlirElementType(absl::StrCat((flags & 1) != 0 ? "i" : "ui", BitWidth(storage->shape.type))));
  QuantizedElement whole;
  SetStorageRange(whole, made.shape.type);
  if (element->least < whole.least || element->greatest > whole.greatest ||
      element->zero_points.size() != element->scales.size() ||
      (per_axis && (element->dimension < 0 || element->dimension >= kMaxRank)))
    return s_.FailAt(place, "the parts of this quantized type do not fit each other");
  made.quantized = std::move(element);
  return true;
}

// `<(a, b) -> c, d>`.
bool MlirTextReader::ReadVhloFunctionType(MlirType& made) {
  made.kind = MlirType::Kind::kFunction;
  if (!s_.Expect("<") || !s_.Expect("(") || !ReadTypeList(made.inputs) || !s_.Expect("->"))
    return false;
  if (s_.Try("(")) return ReadTypeList(made.results) && s_.Expect(">");
  if (s_.Try(">")) return true;
  do {
    if (!ReadType(made.results.emplace_back())) return false;
  } while (s_.Try(","));
  return s_.Expect(">");
}

// After the name of the type, which began at `start`.
bool MlirTextReader::ReadVhloType(absl::string_view name, uint32_t start, const MlirType*& type) {
  const std::string bare = WithoutVersion(name);
  if (bare == "vhlo.tensor") return s_.Expect("<") && ReadTensor(type);
  if (bare == "vhlo.tuple") return s_.Expect("<") && ReadTuple(type);
  MlirType made;
  if (bare == "vhlo.func") {
    if (!ReadVhloFunctionType(made)) return false;
  } else if (bare == "vhlo.quant" || bare == "vhlo.quant_per_axis") {
    if (!ReadVhloQuantized(bare != "vhlo.quant", made)) return false;
  } else if (bare == "vhlo.complex") {
    const MlirType* part = nullptr;
    if (!s_.Expect("<") || !ReadType(part) || !s_.Expect(">")) return false;
    const ElementType element = ComplexOf(part->shape.type);
    if (element == ElementType::kInvalid) return s_.Fail("complex numbers of ", Text(*part));
    made.kind = MlirType::Kind::kScalar;
    made.shape = Shape::Scalar(element);
  } else if (bare == "vhlo.token") {
    made.kind = MlirType::Kind::kToken;
    made.shape = Shape::Token();
  } else if (bare == "vhlo.tf31") {
    made.kind = MlirType::Kind::kOpaque;
    made.text = "tf32";
  } else if (bare == "vhlo.bool") {
    ReadScalar("i1", made);
  } else if (bare != "vhlo.none" && !ReadScalar(absl::string_view(bare).substr(5), made)) {
    return ReadOpaqueType(start, type);
  }
  type = module_.Add(std::move(made));
  return true;
}

// What stands between `<` (taken) and `>` in the attribute `vhlo.<name>`; false in `known` where
// it is like those of stablehlo.
bool MlirTextReader::ReadVhloAttribute(absl::string_view name, MlirAttribute& a, bool& known) {
  using Kind = MlirAttribute::Kind;
  known = true;
  if (name == "vhlo.dict") {
    a.kind = Kind::kDict;
    if (!s_.Expect("{")) return false;
    if (s_.Try("}")) return s_.Expect(">");
    do {
      const MlirAttribute *key = nullptr, *value = nullptr;
      if (!ReadAttribute(key) || !s_.Expect("=") || !ReadAttribute(value)) return false;
      a.fields.emplace_back(key->text, value);
    } while (s_.Try(","));
    return s_.Expect("}") && s_.Expect(">");
  }
  if (name == "vhlo.float") {  // its type is one of vhlo
    return ReadNumber(a) && s_.Expect(">");
  }
  known = name == "vhlo.array" || name == "vhlo.bool" || name == "vhlo.integer" ||
          name == "vhlo.string" || name == "vhlo.tensor" || name == "vhlo.type" ||
          name == "vhlo.sym";
  return !known || (ReadAttributeValue(a) && s_.Expect(">"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
