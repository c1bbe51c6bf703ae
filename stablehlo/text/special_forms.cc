// Pretty operations whose form no row of forms.def can say: those with regions or options.
//
//   stablehlo.while(%i = %0, %s = %1) : tensor<i32>, tensor<f32> cond {...} do {...}
//   stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1] : ...
//   stablehlo.reduce(%x init: %0) across dimensions = [1] : ... reducer(%a: .., %b: ..) {...}
//   stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {...} ...
// Each reader makes the operation that the generic form would give: the short reduce gets a region
// of one operation, a while gets block arguments of the types of its operands, dimension numbers
// become the attribute of their record. So converters see one form only.
#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "stablehlo/text/text_reader_internal.h"

namespace hlokit {

bool MlirTextReader::ReadSpecial(MlirOperation& op, bool& known) {
  using Read = bool (MlirTextReader::*)(MlirOperation&);
  static const auto& kReaders = *new absl::flat_hash_map<absl::string_view, Read>{
      {"builtin.module", &MlirTextReader::ReadBuiltinModule},
      {"func.func", &MlirTextReader::ReadFunction},
      {"stablehlo.constant", &MlirTextReader::ReadConstant},
      {"chlo.constant", &MlirTextReader::ReadConstant},
      {"stablehlo.while", &MlirTextReader::ReadWhile},
      {"stablehlo.reduce", &MlirTextReader::ReadReduce},
      {"stablehlo.dot", &MlirTextReader::ReadDot},
      {"stablehlo.dot_general", &MlirTextReader::ReadDot},
      {"chlo.scan", &MlirTextReader::ReadScan},
      {"stablehlo.convolution", &MlirTextReader::ReadConvolution},
      {"stablehlo.dynamic_conv", &MlirTextReader::ReadConvolution},
      {"sdy.manual_computation", &MlirTextReader::ReadManualComputation},
      {"sdy.mesh", &MlirTextReader::ReadMesh},
      {"check.almost_eq", &MlirTextReader::ReadCheck},
      {"check.eq", &MlirTextReader::ReadCheck},
      {"check.expect_almost_eq", &MlirTextReader::ReadCheck},
      {"check.expect_almost_eq_const", &MlirTextReader::ReadCheck},
      {"check.expect_close", &MlirTextReader::ReadCheck},
      {"check.expect_eq", &MlirTextReader::ReadCheck},
      {"check.expect_eq_const", &MlirTextReader::ReadCheck},
      {"check.expect_serialized_eq", &MlirTextReader::ReadCheck},
  };
  const auto found = kReaders.find(op.name);
  known = found != kReaders.end();
  return !known || (this->*found->second)(op);
}

// `module @name attributes {...} {...}`.
bool MlirTextReader::ReadBuiltinModule(MlirOperation& op) {
  if (s_.Peek() == '@') {
    std::string name;
    if (!ReadSymbol(name)) return false;
    op.attributes.emplace_back("sym_name", AddText(MlirAttribute::Kind::kString, std::move(name)));
  }
  if (s_.TryWord("attributes") && (!s_.Expect("{") || !ReadDictionary(op.attributes))) return false;
  return ReadRegion(op, {}, true);
}

// `%arg0: tensor<f32> {jax.buffer_donor = true} loc("x")`, or types alone in a declaration.
bool MlirTextReader::ReadFunctionArguments(std::vector<BlockArgument>& arguments,
                                           std::vector<const MlirType*>& in,
                                           const MlirAttribute*& attributes) {
  MlirAttribute all;
  all.kind = MlirAttribute::Kind::kArray;
  bool any = false;
  if (!s_.Expect("(")) return false;
  if (s_.Try(")")) return true;
  do {
    BlockArgument argument{};
    if (s_.Try("%")) {
      argument.name = s_.Suffix();
      if (!s_.Expect(":")) return false;
    }
    MlirAttribute own;
    own.kind = MlirAttribute::Kind::kDict;
    if (!ReadType(argument.type) || !ReadOptionalDictionary(own.fields) ||
        !ReadOptionalLocation(argument.location))
      return false;
    any |= !own.fields.empty();
    all.elements.push_back(module_.Add(std::move(own)));
    in.push_back(argument.type);
    arguments.push_back(argument);
  } while (s_.Try(","));
  if (any) attributes = module_.Add(std::move(all));
  return s_.Expect(")");
}

bool MlirTextReader::ReadFunctionResults(std::vector<const MlirType*>& out,
                                         const MlirAttribute*& attributes) {
  if (!s_.Try("->")) return true;
  if (s_.Peek() == '(') {
    std::vector<BlockArgument> results;
    return ReadFunctionArguments(results, out, attributes);
  }
  out.emplace_back();
  return ReadType(out.back());
}

// `func.func public @main(%arg0: tensor<f32>) -> (tensor<f32> {...}) attributes {...} {...}`.
bool MlirTextReader::ReadFunction(MlirOperation& op) {
  using Kind = MlirAttribute::Kind;
  const absl::string_view visibility = s_.PeekWord();
  if (!visibility.empty()) {
    s_.Word();
    op.attributes.emplace_back(
        "sym_visibility",
        AddText(Kind::kString, std::string(visibility.data(), visibility.size())));
  }
  std::string name;
  std::vector<BlockArgument> arguments;
  MlirType type;
  type.kind = MlirType::Kind::kFunction;
  const MlirAttribute *argument_attributes = nullptr, *result_attributes = nullptr;
  if (!ReadSymbol(name) || !ReadFunctionArguments(arguments, type.inputs, argument_attributes) ||
      !ReadFunctionResults(type.results, result_attributes))
    return false;
  op.attributes.emplace_back("sym_name", AddText(Kind::kString, std::move(name)));
  MlirAttribute signature;
  signature.kind = Kind::kType;
  signature.type = module_.Add(std::move(type));
  op.attributes.emplace_back("function_type", module_.Add(std::move(signature)));
  if (argument_attributes != nullptr) op.attributes.emplace_back("arg_attrs", argument_attributes);
  if (result_attributes != nullptr) op.attributes.emplace_back("res_attrs", result_attributes);
  if (s_.TryWord("attributes") && (!s_.Expect("{") || !ReadDictionary(op.attributes))) return false;
  return s_.Peek() != '{' || ReadRegion(op, std::move(arguments), true);
}

// `stablehlo.constant {attributes} dense<1.0> : tensor<f32>`; of quantized elements
// `stablehlo.constant() {value = dense<1> : tensor<i8>} : () -> tensor<!quant.uniform<..>>`.
bool MlirTextReader::ReadConstant(MlirOperation& op) {
  if (s_.Try("(")) {
    std::vector<const MlirType*> in, out;
    if (!s_.Expect(")") || (s_.Try("<{") && (!ReadDictionary(op.attributes) || !s_.Expect(">"))))
      return false;
    return ReadOptionalDictionary(op.attributes) && s_.Expect(":") && ReadFunctionType(in, out) &&
           SetResults(op, out);
  }
  if (!ReadOptionalDictionary(op.attributes)) return false;
  const MlirAttribute* value = nullptr;
  if (!ReadAttribute(value)) return false;
  if (value->kind != MlirAttribute::Kind::kDense)
    return s_.FailAt(op.place, "expected dense<...> or dense_resource<...>");
  op.attributes.emplace_back("value", value);
  return SetResults(op, {value->type});
}

// `stablehlo.while(%iterArg = %0, ...) : types attributes {...} cond {...} do {...}`.
bool MlirTextReader::ReadWhile(MlirOperation& op) {
  std::vector<BlockArgument> arguments;
  if (!s_.Expect("(")) return false;
  if (!s_.Try(")")) {
    do {
      BlockArgument argument{};
      if (!s_.Expect("%")) return false;
      argument.name = s_.Suffix();
      if (!s_.Expect("=") || !ReadOperand(op.operands.emplace_back())) return false;
      argument.type = op.operands.back()->type;
      arguments.push_back(argument);
    } while (s_.Try(","));
    if (!s_.Expect(")")) return false;
  }
  if (!ReadTypes(op, ":all")) return false;
  if (s_.TryWord("attributes") && (!s_.Expect("{") || !ReadDictionary(op.attributes))) return false;
  return s_.ExpectWord("cond") && ReadRegion(op, arguments) && s_.ExpectWord("do") &&
         ReadRegion(op, arguments);
}

// `(%0 init: %c), (%1 init: %d) across dimensions = [1] : types` and then a reducer, or
// `(%0 init: %c) applies stablehlo.add across dimensions = [1] : types`.
bool MlirTextReader::ReadReduce(MlirOperation& op) {
  std::vector<MlirValue*> inits;
  do {
    if (!s_.Expect("(") || !ReadOperand(op.operands.emplace_back()) || !s_.ExpectWord("init") ||
        !s_.Expect(":") || !ReadOperand(inits.emplace_back()) || !s_.Expect(")"))
      return false;
  } while (s_.Try(","));
  op.operands.insert(op.operands.end(), inits.begin(), inits.end());
  absl::string_view applied;
  if (s_.TryWord("applies") && (applied = s_.Word()).empty())
    return s_.Fail("expected the name of an operation");
  std::vector<int64_t> dimensions;
  if (!s_.ExpectWord("across") || !s_.ExpectWord("dimensions") || !s_.Expect("=") ||
      !ReadIntList(dimensions))
    return false;
  op.attributes.emplace_back("dimensions", AddInts(std::move(dimensions)));
  if (!ReadOptionalDictionary(op.attributes) || !ReadTypes(op, ":last")) return false;
  return applied.empty() ? ReadReducerRegion(op) : AddNamedReducer(op, applied);
}

// `reducer(%a: t, %b: t) (%c: t, %d: t) {...}`: the first of each pair is the accumulator.
bool MlirTextReader::ReadReducerRegion(MlirOperation& op) {
  std::vector<BlockArgument> left, right;
  if (!s_.ExpectWord("reducer")) return false;
  while (s_.Try("(")) {
    std::vector<BlockArgument> pair;
    if (!ReadBlockArguments(pair, ")")) return false;
    if (pair.size() != 2) return s_.Fail("expected two arguments");
    left.push_back(pair[0]);
    right.push_back(pair[1]);
  }
  left.insert(left.end(), right.begin(), right.end());
  return ReadRegion(op, std::move(left));
}

bool MlirTextReader::AddNamedReducer(MlirOperation& op, absl::string_view name) {
  if (op.results.size() != 1 || !op.results[0].type->HasShape())
    return s_.FailAt(op.place, op.name, ": 'applies' takes one tensor");
  MlirType scalar;
  scalar.kind = MlirType::Kind::kTensor;
  scalar.shape = Shape::Scalar(op.results[0].type->shape.type);
  scalar.quantized = op.results[0].type->quantized;
  const MlirType* type = module_.Add(std::move(scalar));
  op.regions.emplace_back();
  if (!AddBlock(op.regions[0], {{"", type, nullptr}, {"", type, nullptr}})) return false;
  MlirBlock& block = *op.regions[0].blocks[0];
  auto applied = std::make_unique<MlirOperation>(), result = std::make_unique<MlirOperation>();
  applied->name = module_.Keep(CommonName(name));
  applied->place = result->place = op.place;
  applied->operands = {&block.arguments[0], &block.arguments[1]};
  applied->results.push_back({type});
  module_.Number(applied->results[0]);
  result->name = "stablehlo.return";
  result->operands = {&applied->results[0]};
  block.operations.push_back(std::move(applied));
  block.operations.push_back(std::move(result));
  return true;
}

// `(%0, %1) inits (%2) dimension=0 attributes {is_reverse = true} {region} : (types) -> types`.
bool MlirTextReader::ReadScan(MlirOperation& op) {
  int64_t dimension = 0;
  if (!s_.Expect("(") || !ReadOperands(op.operands) || !s_.Expect(")")) return false;
  const int64_t arrays = static_cast<int64_t>(op.operands.size());
  if (!s_.ExpectWord("inits") || !s_.Expect("(") || !ReadOperands(op.operands) || !s_.Expect(")") ||
      !s_.ExpectWord("dimension") || !s_.Expect("=") || !s_.Int(dimension))
    return false;
  op.attributes.emplace_back("dimension", AddInt(dimension));
  op.attributes.emplace_back("operandSegmentSizes",
                             AddInts({arrays, static_cast<int64_t>(op.operands.size()) - arrays}));
  if (s_.TryWord("attributes") && (!s_.Expect("{") || !ReadDictionary(op.attributes))) return false;
  return ReadRegion(op, {}) && ReadTypes(op, ":last");
}

// `%0, %1, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGHEST, DEFAULT],
// algorithm = <...>`.
bool MlirTextReader::ReadDot(MlirOperation& op) {
  using Kind = MlirAttribute::Kind;
  if (!ReadOperands(op.operands)) return false;
  MlirAttribute numbers;
  numbers.kind = Kind::kDict;
  numbers.tag = "stablehlo.dot";
  while (s_.Try(",")) {
    const absl::string_view option = s_.Word();
    if (option.empty() || !s_.Expect("=")) return s_.Fail("expected an option");
    if (option == "batching_dims" || option == "contracting_dims") {
      const absl::string_view role = option == "batching_dims" ? "batching" : "contracting";
      std::vector<int64_t> lhs, rhs;
      if (!ReadIntList(lhs) || !s_.Expect("x") || !ReadIntList(rhs)) return false;
      numbers.fields.emplace_back(absl::StrCat("lhs_", role, "_dimensions"),
                                  AddInts(std::move(lhs)));
      numbers.fields.emplace_back(absl::StrCat("rhs_", role, "_dimensions"),
                                  AddInts(std::move(rhs)));
    } else if (option == "precision") {
      MlirAttribute list;
      list.kind = Kind::kArray;
      if (!s_.Expect("[")) return false;
      do {
        const absl::string_view word = s_.Word();
        list.elements.push_back(AddText(Kind::kEnum, std::string(word.data(), word.size())));
      } while (s_.Try(","));
      if (!s_.Expect("]")) return false;
      op.attributes.emplace_back("precision_config", module_.Add(std::move(list)));
    } else if (option == "algorithm") {
      MlirAttribute algorithm;
      algorithm.kind = Kind::kDict;
      if (!s_.Expect("<") || !ReadFields(algorithm.fields)) return false;
      op.attributes.emplace_back("algorithm", module_.Add(std::move(algorithm)));
    } else {
      return s_.Fail("there is no option ", option);
    }
  }
  if (op.name == "stablehlo.dot_general")
    op.attributes.emplace_back("dot_dimension_numbers", module_.Add(std::move(numbers)));
  return ReadOptionalDictionary(op.attributes) && ReadTypes(op, ":last");
}

// `window = {stride = [1, 1], pad = [[0, 0], [1, 1]], lhs_dilate = [..], rhs_dilate = [..],
// reverse = [false, true]}`.
bool MlirTextReader::ReadConvolutionWindow(MlirOperation& op) {
  static constexpr std::pair<absl::string_view, const char*> kParts[] = {
      {"stride", "window_strides"},   {"pad", "padding"},
      {"lhs_dilate", "lhs_dilation"}, {"rhs_dilate", "rhs_dilation"},
      {"reverse", "window_reversal"},
  };
  if (!s_.Expect("{")) return false;
  if (s_.Try("}")) return true;
  do {
    const absl::string_view part = s_.Word();
    const char* attribute = nullptr;
    for (const auto& [text, name] : kParts)
      if (part == text) attribute = name;
    if (attribute == nullptr) return s_.Fail("there is no part '", part, "' of a window");
    const MlirAttribute* value = nullptr;
    if (!s_.Expect("=") || !ReadAttribute(value)) return false;
    op.attributes.emplace_back(attribute, value);
  } while (s_.Try(","));
  return s_.Expect("}");
}

bool MlirTextReader::ReadConvolution(MlirOperation& op) {
  MlirAttribute numbers;
  if (!s_.Expect("(") || !ReadOperands(op.operands) || !s_.Expect(")") ||
      !s_.ExpectWord("dim_numbers") || !s_.Expect("=") || !ReadConvDimensions(numbers) ||
      !s_.Expect(",") || !s_.ExpectWord("window") || !s_.Expect("="))
    return false;
  op.attributes.emplace_back("dimension_numbers", module_.Add(std::move(numbers)));
  return ReadConvolutionWindow(op) && ReadOptionalDictionary(op.attributes) &&
         ReadTypes(op, ":last");
}

// `(%0) in_shardings=[...] out_shardings=[...] manual_axes={"x"} (%arg1: t) {...} : (t) -> t`.
bool MlirTextReader::ReadManualComputation(MlirOperation& op) {
  if (!s_.Expect("(") || !ReadOperands(op.operands) || !s_.Expect(")")) return false;
  for (const char* part : {"in_shardings", "out_shardings", "manual_axes"}) {
    if (!s_.ExpectWord(part) || !s_.Expect("=")) return false;
    if (!s_.Try("[") && !s_.Expect("{")) return false;
    const uint32_t start = s_.offset();
    if (!s_.SkipBalanced()) return false;
    const absl::string_view body = s_.From(start - 1);
    op.attributes.emplace_back(
        part, AddText(MlirAttribute::Kind::kOpaque, std::string(body.data(), body.size())));
  }
  std::vector<BlockArgument> arguments;
  return s_.Expect("(") && ReadBlockArguments(arguments, ")") &&
         ReadRegion(op, std::move(arguments)) && ReadOptionalDictionary(op.attributes) &&
         ReadTypes(op, ":last");
}

// `sdy.mesh @mesh = <["x"=2, "y"=4]>`.
bool MlirTextReader::ReadMesh(MlirOperation& op) {
  std::string name;
  if (!ReadSymbol(name) || !s_.Expect("=") || !s_.Expect("<")) return false;
  const uint32_t start = s_.offset();
  if (!s_.SkipBalanced()) return false;
  const absl::string_view body = s_.From(start);
  op.attributes.emplace_back("sym_name", AddText(MlirAttribute::Kind::kString, std::move(name)));
  op.attributes.emplace_back(
      "mesh", AddText(MlirAttribute::Kind::kOpaque, std::string(body.data(), body.size() - 1)));
  return ReadOptionalDictionary(op.attributes);
}

// `%a, %b, tolerance = 0.1 : type` or `%a, dense<1.0> : type, tolerance = 0.1 {attributes}`. The
// operands share the type; a constant has its own.
bool MlirTextReader::ReadCheck(MlirOperation& op) {
  if (!ReadOperands(op.operands)) return false;
  while (s_.Try(",")) {
    const absl::string_view word = s_.PeekWord();
    const MlirAttribute* value = nullptr;
    if (word == "dense") {
      if (!ReadAttribute(value)) return false;
      op.attributes.emplace_back("value", value);
      continue;
    }
    MlirAttribute bound;
    bound.kind = MlirAttribute::Kind::kFloat;
    if (word.empty()) return s_.Fail("expected a constant or the name of an attribute");
    s_.Word();
    if (!s_.Expect("=")) return false;
    if (s_.Peek() == '"') {
      if (!ReadAttribute(value)) return false;
      op.attributes.emplace_back(std::string(word.data(), word.size()), value);
      continue;
    }
    if (!absl::SimpleAtod(s_.Number(), &bound.number)) return s_.Fail("expected a number");
    op.attributes.emplace_back(std::string(word.data(), word.size()),
                               module_.Add(std::move(bound)));
  }
  if (!ReadOptionalDictionary(op.attributes)) return false;
  if (!s_.Try(":")) return true;
  const bool parens = s_.Try("(");
  do {
    const MlirType* type = nullptr;
    if (!ReadType(type)) return false;
  } while (s_.Try(","));
  return !parens || (s_.Expect(")") && s_.Expect("->") && s_.Expect("(") && s_.Expect(")"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
