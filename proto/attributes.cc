// The attributes that an opcode has of its own: each field of its struct by the row of its name.
#include "proto/attributes_internal.h"

#include "absl/strings/str_cat.h"
#include "proto/attribute_rows_internal.h"
#include "proto/literals_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

template <typename A, typename T>
const AttributeRow<T>* FindRow(const Field<A, T>& field) {
  for (const AttributeRow<T>& row : RowsFor(static_cast<const T*>(nullptr)))
    if (row.name == field.name) return &row;
  return nullptr;
}

// The rows of A's fields, in their order; looked up once.
template <typename A>
const auto& RowsOf() {
  static const auto rows = std::apply(
      [](const auto&... field) { return std::make_tuple(FindRow(field)...); }, A::Fields());
  return rows;
}

// Calls fn(field, row) for each field until one returns an error.
template <typename A, typename Fn>
absl::Status ForEachRow(Fn fn) {
  absl::Status status;
  auto visit = [&](const auto& field, const auto* row) {
    if (status.ok() && row != nullptr) status = fn(field, *row);
  };
  std::apply(
      [&](const auto&... field) {
        std::apply([&](const auto*... row) { (visit(field, row), ...); }, RowsOf<A>());
      },
      A::Fields());
  return status;
}

}  // namespace

absl::Status WriteAttributes(const Instruction& instruction, pb::HloInstructionProto* out) {
  if (instruction.IsParameter()) out->set_parameter_number(instruction.parameter_number());
  if (instruction.IsConstant() && instruction.literal() != nullptr)
    RETURN_IF_ERROR(Write(*instruction.literal(), out->mutable_literal()));
  return VisitAttributes(instruction.opcode(), instruction.attributes(),
                         [&](const auto& attributes) {
                           return ForEachRow<std::decay_t<decltype(attributes)>>(
                               [&](const auto& field, const auto& row) {
                                 return row.write(attributes.*field.member, instruction, out);
                               });
                         });
}

absl::Status ReadAttributes(const pb::HloInstructionProto& in, Seen& seen,
                            Instruction& instruction) {
  if (instruction.IsParameter())
    instruction.mutable_attr<ParameterAttrs>().number = in.parameter_number();
  if (instruction.IsConstant() && in.has_literal()) {
    absl::StatusOr<Literal> literal = Read(in.literal(), seen);
    if (!literal.ok()) return Annotate(literal.status(), "literal");
    instruction.mutable_attr<ConstantAttrs>().literal =
        std::make_shared<const Literal>(*std::move(literal));
  }
  return VisitAttributes(
      instruction.opcode(), instruction.mutable_attributes(), [&](auto& attributes) {
        return ForEachRow<std::decay_t<decltype(attributes)>>(
            [&](const auto& field, const auto& row) {
              const absl::Status read = row.read(in, seen, attributes.*field.member);
              return read.ok() ? read : Annotate(read, field.name);
            });
      });
}

std::vector<std::string> AttributesWithoutRow() {
  std::vector<std::string> missing;
  auto check = [&]<typename A>(absl::string_view opcode, const A*) {
    ForEachField<A>([&](const auto& field) {
      if (FindRow(field) == nullptr) missing.push_back(absl::StrCat(opcode, ".", field.name));
    });
  };
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, ...) \
  check(text, static_cast<const attrs*>(nullptr));
#include "ir/ops.def"
#undef HLO_OP
  return missing;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
