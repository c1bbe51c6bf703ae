// Computations as operations in MLIR's generic form:
//
//   %3 = "stablehlo.reduce"(%1, %2) <{dimensions = array<i64: 0>}> ({
//   ^bb0(%4: tensor<f32>, %5: tensor<f32>):
//     %6 = "stablehlo.add"(%4, %5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
//     "stablehlo.return"(%6) : (tensor<f32>) -> ()
//   }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
//
// A tuple is the list of its arrays and tokens, so tuples, their elements, copies and dependences
// write nothing. Branches see the values outside; loops carry theirs. Names are unique in a module.
// Limits: regions nest 100 deep at most; a text of more than 1 GiB is refused, as computations that
// many instructions share are written for each.
#include "stablehlo/write/body_writer_internal.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "printer/printer.h"
#include "stablehlo/write/forms_internal.h"
#include "stablehlo/write/text_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int kMaxDepth = 100;
constexpr size_t kMaxText = size_t{1} << 30;

void AddLeaves(const Shape& shape, std::vector<Shape>& leaves) {
  if (!shape.IsTuple()) {
    leaves.push_back(shape);
    return;
  }
  for (const Shape& element : shape.elements) AddLeaves(element, leaves);
}

std::string NamesOf(const WrittenValues& values) {
  return absl::StrJoin(values, ", ", [](std::string* out, const WrittenValue& value) {
    absl::StrAppend(out, value.name);
  });
}

int DynamicDimensions(const Shape& shape) {
  int count = 0;
  for (int d = 0; d < shape.rank(); ++d) count += shape.IsDynamic(d) ? 1 : 0;
  return count;
}

std::vector<Shape> ShapesOf(const WrittenValues& values) {
  std::vector<Shape> shapes;
  for (const WrittenValue& value : values) shapes.push_back(value.shape);
  return shapes;
}

}  // namespace

std::vector<Shape> LeavesOf(const Shape& shape) {
  std::vector<Shape> leaves;
  AddLeaves(shape, leaves);
  return leaves;
}

std::string WriterState::NewName() { return absl::StrCat("%", next_++); }

std::string WriterState::FunctionOf(const Computation* computation) {
  std::string& name = functions_[computation];
  if (name.empty()) {
    // `main` is the entry.
    name = SymbolText(computation->name() == "main" ? "main.called" : computation->name());
    unwritten_.push_back(computation);
  }
  return name;
}

const Computation* WriterState::TakeUnwritten() {
  if (unwritten_.empty()) return nullptr;
  const Computation* last = unwritten_.back();
  unwritten_.pop_back();
  return last;
}

std::string ExtraAttributes(const Instruction& i) {
  if (!i.HasExtras()) return "";
  AttributeText text;
  if (!i.extras().frontend_attributes.empty()) {
    AttributeText inner;
    for (const auto& [key, value] : i.extras().frontend_attributes)
      inner.Add(QuotedMlir(key), QuotedMlir(value));
    text.Add("mhlo.frontend_attributes", absl::StrCat("{", inner.text(), "}"));
  }
  if (i.opcode() == Opcode::kCustomCall &&
      i.attr<CustomCallAttrs>().api_version != CustomCallApiVersion::kTypedFfi)
    if (const std::string fields = FieldsOfConfig(i); !fields.empty())
      text.Add("mhlo.backend_config", fields);
  if (i.sharding() != nullptr) text.Add("mhlo.sharding", QuotedMlir(Text(*i.sharding())));
  return text.text();
}

WrittenValues BodyWriter::Emit(absl::string_view name, const WrittenValues& operands,
                               absl::string_view attributes, absl::string_view regions,
                               const std::vector<Shape>& results, absl::string_view extra) {
  std::string& out = state_.out();
  WrittenValues values;
  out.append(4, ' ');
  if (!results.empty()) {
    const std::string own = state_.NewName();
    absl::StrAppend(&out, own, results.size() > 1 ? absl::StrCat(":", results.size()) : "", " = ");
    for (size_t i = 0; i < results.size(); ++i)
      values.push_back({results.size() > 1 ? absl::StrCat(own, "#", i) : own, results[i]});
  }
  absl::StrAppend(&out, "\"", name, "\"(", NamesOf(operands), ")");
  if (!attributes.empty()) absl::StrAppend(&out, " <{", attributes, "}>");
  if (!regions.empty()) absl::StrAppend(&out, " (", regions, ")");
  if (!extra.empty()) absl::StrAppend(&out, " {", extra, "}");
  absl::StrAppend(&out, " : (", StablehloTypes(ShapesOf(operands)), ") -> ");
  const std::string types = StablehloTypes(results);
  absl::StrAppend(&out, results.size() == 1 ? types : absl::StrCat("(", types, ")"), "\n");
  return values;
}

WrittenValues BodyWriter::TakenApart(const WrittenValue& value) {
  if (!value.shape.IsTuple()) return {value};
  WrittenValues leaves;
  for (size_t k = 0; k < value.shape.elements.size(); ++k) {
    const WrittenValues element =
        Emit("stablehlo.get_tuple_element", {value}, absl::StrCat("index = ", k, " : i32"), "",
             {value.shape.elements[k]});
    const WrittenValues inner = TakenApart(element[0]);
    leaves.insert(leaves.end(), inner.begin(), inner.end());
  }
  return leaves;
}

WrittenValue BodyWriter::PutTogether(const Shape& shape, const WrittenValues& leaves,
                                     size_t& next) {
  if (!shape.IsTuple()) return leaves[next++];
  WrittenValues elements;
  for (const Shape& element : shape.elements)
    elements.push_back(PutTogether(element, leaves, next));
  return Emit("stablehlo.tuple", elements, "", "", {shape})[0];
}

WrittenValues BodyWriter::OperandsOf(const Instruction& i) {
  WrittenValues all;
  for (const Instruction* operand : i.operands()) {
    const WrittenValues& own = values_[operand];
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

// The elements of a vector, as scalars.
WrittenValues BodyWriter::ElementsOf(const WrittenValue& vector) {
  WrittenValues elements;
  const Shape scalar = Shape::Scalar(vector.shape.type);
  for (int64_t k = 0; k < vector.shape.dims[0]; ++k) {
    const AttributeText text = AttributeText()
                                   .Ints("limit_indices", {k + 1})
                                   .Ints("start_indices", {k})
                                   .Ints("strides", {1});
    const WrittenValues part =
        Emit("stablehlo.slice", {vector}, text.text(), "", {Shape::Array(scalar.type, {1})});
    elements.push_back(Emit("stablehlo.reshape", part, "", "", {scalar})[0]);
  }
  return elements;
}

WrittenValue BodyWriter::JoinedScalars(const WrittenValues& scalars) {
  WrittenValues parts;
  const ElementType type = scalars[0].shape.type;
  for (const WrittenValue& scalar : scalars)
    parts.push_back(Emit("stablehlo.reshape", {scalar}, "", "", {Shape::Array(type, {1})})[0]);
  const Shape all = Shape::Array(type, {static_cast<int64_t>(parts.size())});
  return Emit("stablehlo.concatenate", parts, "dimension = 0 : i64", "", {all})[0];
}

WrittenValues BodyWriter::ArrangedOperands(const Instruction& i) {
  WrittenValues all = OperandsOf(i);
  const absl::string_view opcode = Text(i.opcode());
  const size_t fixed = opcode == "dynamic-slice"          ? 1
                       : opcode == "dynamic-update-slice" ? 2
                                                          : all.size();
  if (fixed + 1 == all.size() && all[fixed].shape.rank() == 1) {
    const WrittenValues starts = ElementsOf(all[fixed]);
    all.pop_back();
    all.insert(all.end(), starts.begin(), starts.end());
  } else if (opcode == "dynamic-reshape" && all.size() > 1) {
    all = {all[0], JoinedScalars(WrittenValues(all.begin() + 1, all.end()))};
  } else if (HasTrait(i.opcode(), kElementwise) && IsFloat(i.shape().type) && all.size() == 2) {
    for (WrittenValue& value : all)
      if (IsFloat(value.shape.type) && value.shape.type != i.shape().type)
        value =
            Emit("stablehlo.convert", {value}, "", "", {value.shape.WithType(i.shape().type)})[0];
  }
  return all;
}

absl::StatusOr<std::string> BodyWriter::Region(const Computation& computation,
                                               const std::vector<WrittenValues>* given) {
  if (depth_ >= kMaxDepth) return Unimplemented("regions nest more than ", kMaxDepth, " deep");
  std::string outer;
  outer.swap(state_.out());
  std::string& out = state_.out();
  std::vector<WrittenValues> arguments;
  std::string block;
  if (given != nullptr) {
    arguments = *given;
  } else {
    for (const Instruction* parameter : computation.parameters()) {
      WrittenValues& values = arguments.emplace_back();
      for (const Shape& leaf : LeavesOf(parameter->shape())) {
        values.push_back({state_.NewName(), leaf});
        absl::StrAppend(&block, block.empty() ? "" : ", ", values.back().name, ": ",
                        StablehloType(leaf));
      }
    }
  }
  absl::StrAppend(&out, "{\n", block.empty() ? "" : absl::StrCat("    ^bb0(", block, "):\n"));
  BodyWriter inside(state_, depth_ + 1);
  absl::StatusOr<WrittenValues> root = inside.Write(computation, arguments);
  if (root.ok()) inside.Emit("stablehlo.return", *root, "", "", {});
  out += "    }";
  std::string region;
  region.swap(out);
  out.swap(outer);
  if (!root.ok()) return root.status();
  return region;
}

absl::StatusOr<WrittenValues> BodyWriter::Write(const Computation& computation,
                                                const std::vector<WrittenValues>& arguments) {
  for (const Instruction* i : computation.PostOrder()) {
    if (i->IsParameter()) {
      Set(*i, arguments[i->parameter_number()]);
      continue;
    }
    absl::Status written = WriteInstruction(*i);
    if (!written.ok()) return WithPlace(std::move(written), i->place());
    if (state_.out().size() > kMaxText)
      return Unimplemented("the text is of more than ", kMaxText, " bytes");
  }
  return values_[computation.root()];
}

absl::Status BodyWriter::WriteInstruction(const Instruction& i) {
  using Write = absl::Status (BodyWriter::*)(const Instruction&);
  static const auto& kSpecial = *new absl::flat_hash_map<Opcode, Write>{
#define MLIR_WRITTEN(opcode, name, attributes)
#define MLIR_SPECIAL(opcode, method) {Opcode::k##opcode, &BodyWriter::Write##method},
#include "stablehlo/write/forms.def"
#undef MLIR_SPECIAL
#undef MLIR_WRITTEN
  };
  if (state_.importer_forms() && i.opcode() == Opcode::kCopy && i.shape().IsArray()) {
    Set(i, Emit("mhlo.copy", OperandsOf(i), "", "", {i.shape()}, ImporterExtras(i)));
    return absl::OkStatus();
  }
  const auto special = kSpecial.find(i.opcode());
  return special == kSpecial.end() ? WriteOther(i) : (this->*special->second)(i);
}

absl::Status BodyWriter::WriteOperands(const Instruction& i) {
  Set(i, OperandsOf(i));
  return absl::OkStatus();
}

absl::Status BodyWriter::WriteFirstOperand(const Instruction& i) {
  Set(i, values_[i.operand(0)]);
  return absl::OkStatus();
}

absl::Status BodyWriter::WriteConstant(const Instruction& i) {
  if (i.shape().IsTuple()) return Unimplemented("constant: tuples have no equal in StableHLO");
  if (i.literal() == nullptr) return InvalidArgument("constant: its value was left out");
  const std::string value = absl::StrCat("value = ", DenseText(*i.literal()));
  Set(i, Emit("stablehlo.constant", {}, value, "", {i.shape()}, ExtraAttributes(i)));
  return absl::OkStatus();
}

// The leaves of one element among those of the tuple.
absl::Status BodyWriter::WriteElement(const Instruction& i) {
  const Instruction& tuple = *i.operand(0);
  if (values_[&tuple].size() != LeavesOf(tuple.shape()).size())
    return Unimplemented("get-tuple-element of a transfer under way has no equal in StableHLO");
  size_t before = 0;
  for (int64_t k = 0; k < i.tuple_index(); ++k)
    before += LeavesOf(tuple.shape().elements[k]).size();
  const WrittenValues& all = values_[&tuple];
  const size_t count = LeavesOf(i.shape()).size();
  Set(i, WrittenValues(all.begin() + before, all.begin() + before + count));
  return absl::OkStatus();
}

// The shape is an operand.
absl::Status BodyWriter::WriteRng(const Instruction& i) {
  WrittenValues operands = OperandsOf(i);
  Literal sizes =
      Literal::Unset(Shape::Array(ElementType::kS64, {i.shape().rank()}).WithDefaultLayout());
  for (int d = 0; d < i.shape().rank(); ++d) sizes.SetInt(d, i.shape().dims[d]);
  const WrittenValues shape = Emit("stablehlo.constant", {},
                                   absl::StrCat("value = ", DenseText(sizes)), "", {sizes.shape()});
  operands.push_back(shape[0]);
  const bool normal = i.attr<RngAttrs>().distribution == RngDistribution::kNormal;
  const AttributeText text =
      AttributeText().Enum("rng_distribution", "rng_distribution", normal ? "NORMAL" : "UNIFORM");
  Set(i, Emit("stablehlo.rng", operands, text.text(), "", {i.shape()}, ExtraAttributes(i)));
  return absl::OkStatus();
}

absl::Status BodyWriter::WriteWhile(const Instruction& i) {
  ASSIGN_OR_RETURN(const std::string condition, Region(*i.called(0), nullptr));
  ASSIGN_OR_RETURN(const std::string body, Region(*i.called(1), nullptr));
  Set(i, Emit("stablehlo.while", OperandsOf(i), "", absl::StrCat(condition, ", ", body),
              LeavesOf(i.shape()), ExtraAttributes(i)));
  return absl::OkStatus();
}

absl::Status BodyWriter::WriteConditional(const Instruction& i) {
  std::string regions;
  for (size_t k = 0; k < i.called().size(); ++k) {
    const std::vector<WrittenValues> given = {values_[i.operand(static_cast<int64_t>(k) + 1)]};
    ASSIGN_OR_RETURN(const std::string region, Region(*i.called(k), &given));
    absl::StrAppend(&regions, regions.empty() ? "" : ", ", region);
  }
  const bool two = IsPred(i.operand(0)->shape().type);
  Set(i, Emit(two ? "stablehlo.if" : "stablehlo.case", values_[i.operand(0)], "", regions,
              LeavesOf(i.shape()), ExtraAttributes(i)));
  return absl::OkStatus();
}

absl::Status BodyWriter::WriteCall(const Instruction& i) {
  const std::string callee = absl::StrCat("callee = ", state_.FunctionOf(i.to_apply()));
  Set(i, Emit("func.call", OperandsOf(i), callee, "", LeavesOf(i.shape()), ExtraAttributes(i)));
  return absl::OkStatus();
}

// The value under way between a start and its end has no number: a send is its token, a receive
// data and token.
absl::Status BodyWriter::WriteTransfer(const Instruction& i) {
  ASSIGN_OR_RETURN(const WrittenForm form, WrittenFormOf(i));
  std::vector<Shape> results = {Shape::Token()};
  if (i.operand(0)->shape().IsToken()) {
    results = LeavesOf(i.shape().elements[0]);
    results.push_back(Shape::Token());
  }
  Set(i, Emit(form.name, OperandsOf(i), form.attributes, "", results, ExtraAttributes(i)));
  return absl::OkStatus();
}

// Between layouts a bitcast moves elements.
absl::Status BodyWriter::WriteBitcast(const Instruction& i) {
  const Shape& from = i.operand(0)->shape();
  if (i.shape().type != from.type)
    return Unimplemented("bitcast between types has no equal in StableHLO");
  if (SameIgnoringLayout(i.shape(), from)) return WriteFirstOperand(i);
  if (i.shape() != i.shape().WithDefaultLayout() || from != from.WithDefaultLayout())
    return Unimplemented("bitcast between layouts has no equal in StableHLO");
  Set(i, Emit("stablehlo.reshape", OperandsOf(i), "", "", {i.shape()}, ExtraAttributes(i)));
  return absl::OkStatus();
}

absl::Status BodyWriter::WriteOther(const Instruction& i) {
  if (i.opcode() == Opcode::kReshape && DynamicDimensions(i.shape()) > 1)
    return Unimplemented("reshape to several dynamic dimensions has no equal in StableHLO");
  ASSIGN_OR_RETURN(WrittenForm form, WrittenFormOf(i));
  if (state_.importer_forms()) AsImporterWrites(i, form);
  const bool custom = i.opcode() == Opcode::kCustomCall;
  std::string regions, functions;
  for (const Computation* called : i.called()) {
    if (custom) {
      absl::StrAppend(&functions, functions.empty() ? "" : ", ", state_.FunctionOf(called));
      continue;
    }
    ASSIGN_OR_RETURN(const std::string region, Region(*called, nullptr));
    absl::StrAppend(&regions, regions.empty() ? "" : ", ", region);
  }
  if (!functions.empty())
    absl::StrAppend(&form.attributes, ", called_computations = [", functions, "]");
  std::string extra = ExtraAttributes(i);
  if (state_.importer_forms())
    if (const std::string more = ImporterExtras(i); !more.empty())
      absl::StrAppend(&extra, extra.empty() ? "" : ", ", more);
  Set(i,
      Emit(form.name, ArrangedOperands(i), form.attributes, regions, LeavesOf(i.shape()), extra));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
