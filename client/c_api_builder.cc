// Operations from C: attributes are read by the reader of HLO text, the rest is XlaBuilder's.
//
// An operation is an opcode, values, and the text of its attributes as an instruction would have it
// ("dimensions={1}"); so one function serves most opcodes, and a new one needs no code here.
// Computations that it calls are named c0, c1, ... for the reader, in the form that the opcode has
// (to_apply, condition and body, ...), and replaced by those given.
// Values are numbers of the builder. The first error is kept, later calls give HLOKIT_NO_VALUE, and
// building reports it: callers need not check every step.
#include "client/c_api_builder.h"

#include <deque>

#include "absl/strings/str_join.h"
#include "builder/builder.h"
#include "client/c_api_internal.h"
#include "parser/parser.h"
#include "printer/printer.h"
#include "support/status.h"
#include "support/within_memory.h"

struct hlokit_builder {
  explicit hlokit_builder(const char* name) : builder(name == nullptr ? "computation" : name) {}

  hlokit::XlaBuilder builder;
  std::vector<hlokit::XlaOp> values;
  std::deque<std::string> shapes;  // of what was asked for
};

namespace hlokit {
namespace {

constexpr Where kNoPlace;

hlokit_value Keep(hlokit_builder* b, XlaOp op) {
  if (!op.valid()) return HLOKIT_NO_VALUE;
  b->values.push_back(op);
  return static_cast<hlokit_value>(b->values.size()) - 1;
}

hlokit_value Fail(hlokit_builder* b, const absl::Status& status) {
  b->builder.ReportError(status, kNoPlace);
  return HLOKIT_NO_VALUE;
}

// What `make` gives, unless there is no builder or a pointer that it needs is null; what is thrown
// on the way becomes the builder's error.
template <typename Make>
hlokit_value GuardedValue(hlokit_builder* b, std::initializer_list<NeededPointer> needed,
                          const Make& make) {
  if (b == nullptr) return HLOKIT_NO_VALUE;
  const absl::Status given = CheckGiven(needed);
  if (!given.ok()) return Fail(b, given);
  try {
    return make();
  } catch (const std::exception& thrown) {
    return Fail(b, absl::ResourceExhaustedError(thrown.what()));
  }
}

// An invalid one where `value` is none of the builder's.
XlaOp OpOf(const hlokit_builder* b, hlokit_value value) {
  const bool known = value >= 0 && value < static_cast<hlokit_value>(b->values.size());
  return known ? b->values[value] : XlaOp();
}

// How an instruction's text names computations c0, c1, ..., with a comma before it.
std::string CallsText(Opcode opcode, size_t count) {
  const auto list = [count] {
    std::vector<std::string> names;
    for (size_t c = 0; c < count; ++c) names.push_back(absl::StrCat("c", c));
    return absl::StrJoin(names, ", ");
  };
  if (count == 0) return "";
  switch (Info(opcode).calls) {
    case CallForm::kNoCalls:
      return "";
    case CallForm::kToApply:
      return ", to_apply=c0";
    case CallForm::kCondBody:
      return ", condition=c0, body=c1";
    case CallForm::kBranches:
      return absl::StrCat(", branch_computations={", list(), "}");
    case CallForm::kSelectScatter:
      return ", select=c0, scatter=c1";
    case CallForm::kFusionCalls:
    case CallForm::kAsyncCalls:
      return ", calls=c0";
    case CallForm::kCustomCalls:
      return absl::StrCat(", called_computations={", list(), "}");
  }
  return "";
}

// A module whose entry's root has the operation's attributes, read from text. What it computes is
// nonsense, and never looked at: bodies are empty, and the shape is made up unless it is given.
absl::StatusOr<std::unique_ptr<Module>> ReadAttributes(Opcode opcode, const char* attributes,
                                                       const std::vector<Shape>& operands,
                                                       const std::optional<Shape>& result,
                                                       size_t computations) {
  std::string text = "HloModule m\n";
  for (size_t c = 0; c < computations; ++c)
    absl::StrAppend(&text, "c", c, " { ROOT p = f32[] parameter(0) }\n");
  absl::StrAppend(&text, "ENTRY e {\n");
  std::vector<std::string> names;
  for (size_t o = 0; o < operands.size(); ++o) {
    names.push_back(absl::StrCat("a", o));
    absl::StrAppend(&text, names[o], " = ", Text(operands[o], true), " parameter(", o, ")\n");
  }
  const Shape made_up =
      opcode == Opcode::kTuple ? Shape::Tuple(operands) : Shape::Scalar(ElementType::kF32);
  absl::StrAppend(&text, "ROOT r = ", Text(result.value_or(made_up), true), " ", Text(opcode), "(",
                  absl::StrJoin(names, ", "), ")");
  if (attributes != nullptr && *attributes != 0) absl::StrAppend(&text, ", ", attributes);
  absl::StrAppend(&text, CallsText(opcode, computations), "\n}\n");
  return ParseModule(text);
}

// Metadata, sharding, frontend attributes and the backend's configuration of one instruction.
void TakeExtras(const Instruction& from, Instruction& to) {
  to.CopyExtrasFrom(from);
  if (from.HasExtras() && !from.extras().backend_config.empty())
    to.mutable_extras().backend_config = from.extras().backend_config;
}

absl::StatusOr<std::optional<Shape>> StatedShape(const char* text) {
  if (text == nullptr) return std::optional<Shape>();
  ASSIGN_OR_RETURN(Shape shape, ParseShape(text));
  return std::optional<Shape>(std::move(shape));
}

absl::StatusOr<Opcode> OpcodeOf(const char* text) {
  const std::optional<Opcode> opcode = OpcodeFromText(text == nullptr ? "" : text);
  if (!opcode) return InvalidArgument("there is no opcode \"", text == nullptr ? "" : text, "\"");
  return *opcode;
}

absl::StatusOr<XlaOp> MakeOperation(hlokit_builder* b, const hlokit_operation& operation) {
  if (operation.struct_size < static_cast<int64_t>(sizeof(hlokit_operation)))
    return InvalidArgument("the operation does not begin with HLOKIT_OPERATION_INIT");
  RETURN_IF_ERROR(CheckGiven(
      {{operation.operands != nullptr || operation.operand_count == 0, "operands"},
       {operation.computations != nullptr || operation.computation_count == 0, "computations"}}));
  ASSIGN_OR_RETURN(const Opcode opcode, OpcodeOf(operation.opcode));
  if (opcode == Opcode::kParameter || opcode == Opcode::kConstant)
    return InvalidArgument(Text(opcode), " has a function of its own");
  std::vector<XlaOp> operands;
  std::vector<Shape> shapes;
  for (size_t o = 0; o < operation.operand_count; ++o) {
    operands.push_back(OpOf(b, operation.operands[o]));
    absl::StatusOr<Shape> shape = b->builder.GetShape(operands.back());
    if (!shape.ok()) return Annotate(shape.status(), Text(opcode));
    shapes.push_back(*std::move(shape));
  }
  std::vector<const XlaComputation*> called;
  for (size_t c = 0; c < operation.computation_count; ++c) {
    if (operation.computations[c] == nullptr)
      return InvalidArgument(Text(opcode), ": computation ", c, " is null");
    called.push_back(&operation.computations[c]->computation);
  }
  ASSIGN_OR_RETURN(std::optional<Shape> stated, StatedShape(operation.shape));
  const auto read = ReadAttributes(opcode, operation.attributes, shapes, stated, called.size());
  if (!read.ok()) return Annotate(read.status(), Text(opcode));
  const Instruction& model = *(*read)->entry()->root();
  if (model.opcode() != opcode)
    return InvalidArgument(Text(opcode), ": \"", operation.attributes,
                           "\" is more than attributes");
  if (model.called().size() != called.size())
    return InvalidArgument(Text(opcode), " calls ", model.called().size(), " computations, ",
                           called.size(), " given");
  auto attributes = model.attributes() ? model.attributes()->Clone() : nullptr;
  ASSIGN_OR_RETURN(const XlaOp made,
                   b->builder.AddInstruction({opcode, operands, std::move(attributes),
                                              std::move(stated), std::move(called), ""}));
  TakeExtras(model, *b->builder.Find(made));
  return made;
}

absl::StatusOr<XlaOp> MakeBinary(hlokit_builder* b, const char* text, XlaOp lhs, XlaOp rhs,
                                 DimSpan dimensions, const char* attributes) {
  ASSIGN_OR_RETURN(const Opcode opcode, OpcodeOf(text));
  ASSIGN_OR_RETURN(const Shape lhs_shape, b->builder.GetShape(lhs));
  ASSIGN_OR_RETURN(const Shape rhs_shape, b->builder.GetShape(rhs));
  if (opcode != Opcode::kCompare) return BinaryOp(opcode, lhs, rhs, dimensions, kNoPlace);
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> read,
                   ReadAttributes(opcode, attributes, {lhs_shape, rhs_shape}, {}, 0));
  if (read->entry()->root()->opcode() != opcode)
    return InvalidArgument("compare: \"", attributes, "\" is more than attributes");
  const auto& order = read->entry()->root()->attr<CompareAttrs>();
  return Compare(lhs, rhs, dimensions, order.direction, order.type, kNoPlace);
}

}  // namespace
}  // namespace hlokit

using hlokit::Fail;
using hlokit::Guarded;
using hlokit::GuardedValue;
using hlokit::Keep;
using hlokit::OpOf;
using hlokit::WrapError;
using hlokit::XlaOp;

extern "C" {

hlokit_builder* hlokit_builder_create(const char* name) { return new hlokit_builder(name); }
void hlokit_builder_free(hlokit_builder* builder) { delete builder; }

hlokit_value hlokit_builder_parameter(hlokit_builder* builder, int64_t number, const char* shape,
                                      const char* name) {
  return GuardedValue(builder, {{shape != nullptr, "shape"}, {name != nullptr, "name"}},
                      [&]() -> hlokit_value {
                        const absl::StatusOr<hlokit::Shape> parsed = hlokit::ParseShape(shape);
                        if (!parsed.ok()) return Fail(builder, parsed.status());
                        return Keep(builder, hlokit::Parameter(&builder->builder, number, *parsed,
                                                               name, {}, hlokit::kNoPlace));
                      });
}

hlokit_value hlokit_builder_constant(hlokit_builder* builder, const char* shape,
                                     const void* elements, size_t size) {
  return GuardedValue(
      builder, {{shape != nullptr, "shape"}, {elements != nullptr || size == 0, "elements"}},
      [&]() -> hlokit_value {
        const absl::StatusOr<hlokit::Shape> parsed = hlokit::ShapeOfBytes(shape, size);
        if (!parsed.ok()) return Fail(builder, parsed.status());
        const auto literal = hlokit::WithinMemory("a constant", [&] {
          hlokit::Literal made = hlokit::Literal::Unset(*parsed);
          if (size > 0) hlokit::FromLayout(static_cast<const uint8_t*>(elements), *parsed, made);
          return absl::StatusOr<hlokit::Literal>(std::move(made));
        });
        if (!literal.ok()) return Fail(builder, literal.status());
        return Keep(builder,
                    hlokit::ConstantLiteral(&builder->builder, *literal, hlokit::kNoPlace));
      });
}

hlokit_value hlokit_builder_constant_text(hlokit_builder* builder, const char* literal) {
  return GuardedValue(builder, {{literal != nullptr, "literal"}}, [&]() -> hlokit_value {
    const absl::StatusOr<hlokit::Literal> parsed = hlokit::ParseLiteral(literal);
    if (!parsed.ok()) return Fail(builder, parsed.status());
    return Keep(builder, hlokit::ConstantLiteral(&builder->builder, *parsed, hlokit::kNoPlace));
  });
}

hlokit_value hlokit_builder_binary(hlokit_builder* builder, const char* opcode, hlokit_value lhs,
                                   hlokit_value rhs, const int64_t* broadcast_dimensions,
                                   size_t count, const char* attributes) {
  return GuardedValue(builder,
                      {{opcode != nullptr, "opcode"},
                       {broadcast_dimensions != nullptr || count == 0, "broadcast_dimensions"}},
                      [&]() -> hlokit_value {
                        const absl::StatusOr<XlaOp> made = hlokit::MakeBinary(
                            builder, opcode, OpOf(builder, lhs), OpOf(builder, rhs),
                            {broadcast_dimensions, count}, attributes);
                        return made.ok() ? Keep(builder, *made) : Fail(builder, made.status());
                      });
}

hlokit_value hlokit_builder_operation(hlokit_builder* builder, const hlokit_operation* operation) {
  return GuardedValue(builder, {{operation != nullptr, "operation"}}, [&]() -> hlokit_value {
    const absl::StatusOr<XlaOp> made = hlokit::MakeOperation(builder, *operation);
    return made.ok() ? Keep(builder, *made) : Fail(builder, made.status());
  });
}

const char* hlokit_builder_shape(hlokit_builder* builder, hlokit_value value) {
  if (builder == nullptr) return nullptr;
  const absl::StatusOr<hlokit::Shape> shape = builder->builder.GetShape(OpOf(builder, value));
  if (!shape.ok()) return nullptr;
  return builder->shapes.emplace_back(Text(*shape, true)).c_str();
}

hlokit_error* hlokit_builder_error(const hlokit_builder* builder) {
  return Guarded({{builder != nullptr, "builder"}},
                 [&]() -> hlokit_error* { return WrapError(builder->builder.first_error()); });
}

hlokit_error* hlokit_builder_build(hlokit_builder* builder, hlokit_value root,
                                   hlokit_computation** computation) {
  return Guarded({{builder != nullptr, "builder"}, {computation != nullptr, "computation"}},
                 [&]() -> hlokit_error* {
                   auto built = root == HLOKIT_NO_VALUE
                                    ? builder->builder.Build()
                                    : builder->builder.Build(OpOf(builder, root));
                   if (!built.ok()) return WrapError(built.status());
                   *computation = new hlokit_computation{*std::move(built)};
                   return nullptr;
                 });
}

hlokit_error* hlokit_computation_scalar(const char* opcode, const char* element_type,
                                        hlokit_computation** computation) {
  return Guarded({{opcode != nullptr, "opcode"},
                  {element_type != nullptr, "element_type"},
                  {computation != nullptr, "computation"}},
                 [&]() -> hlokit_error* {
                   const absl::StatusOr<hlokit::Opcode> parsed = hlokit::OpcodeOf(opcode);
                   if (!parsed.ok()) return WrapError(parsed.status());
                   const absl::StatusOr<hlokit::Shape> scalar =
                       hlokit::ParseShape(absl::StrCat(element_type, "[]"));
                   if (!scalar.ok()) return WrapError(scalar.status());
                   hlokit::XlaBuilder b(opcode);
                   const XlaOp lhs = hlokit::Parameter(&b, 0, *scalar, "lhs", {}, hlokit::kNoPlace);
                   const XlaOp rhs = hlokit::Parameter(&b, 1, *scalar, "rhs", {}, hlokit::kNoPlace);
                   hlokit::BinaryOp(*parsed, lhs, rhs, {}, hlokit::kNoPlace);
                   auto built = b.Build();
                   if (!built.ok()) return WrapError(built.status());
                   *computation = new hlokit_computation{*std::move(built)};
                   return nullptr;
                 });
}

hlokit_error* hlokit_computation_from_text(const char* hlo_text, hlokit_computation** computation) {
  return Guarded({{hlo_text != nullptr, "hlo_text"}, {computation != nullptr, "computation"}},
                 [&]() -> hlokit_error* {
                   auto module = hlokit::ParseModule(hlo_text);
                   if (!module.ok()) return WrapError(module.status());
                   *computation =
                       new hlokit_computation{hlokit::XlaComputation(*std::move(module))};
                   return nullptr;
                 });
}

hlokit_error* hlokit_computation_text(const hlokit_computation* computation, char** text) {
  return Guarded(
      {{computation != nullptr, "computation"}, {text != nullptr, "text"}}, [&]() -> hlokit_error* {
        *text = hlokit::GiveBytes(hlokit::Print(computation->computation.module()), nullptr);
        return nullptr;
      });
}

void hlokit_computation_free(hlokit_computation* computation) { delete computation; }

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
