// Computations as the operations of a function or a region.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/module.h"

namespace hlokit {

// An array or token, by its name.
struct WrittenValue {
  std::string name;  // %3, %4#1
  Shape shape;
};
// The arrays and tokens of a value, in order: a tuple is its leaves.
using WrittenValues = std::vector<WrittenValue>;

// The leaves of a shape.
std::vector<Shape> LeavesOf(const Shape& shape);

// What the functions of a module share.
class WriterState {
 public:
  explicit WriterState(bool importer_forms) : importer_forms_(importer_forms) {}
  bool importer_forms() const { return importer_forms_; }
  std::string NewName();  // %7
  // The function that a called computation becomes; it is to be written then.
  std::string FunctionOf(const Computation* computation);
  // Computations that have been called and not been taken yet; null when there are none.
  const Computation* TakeUnwritten();
  std::string& out() { return out_; }

 private:
  bool importer_forms_;
  int64_t next_ = 0;
  absl::flat_hash_map<const Computation*, std::string> functions_;
  std::vector<const Computation*> unwritten_;
  std::string out_;
};

class BodyWriter {
 public:
  BodyWriter(WriterState& state, int depth) : state_(state), depth_(depth) {}

  // Writes all instructions; `arguments` has the values of each parameter. Gives the root's values.
  absl::StatusOr<WrittenValues> Write(const Computation& computation,
                                      const std::vector<WrittenValues>& arguments);
  // One operation. `regions` is the text between the parentheses, or empty.
  WrittenValues Emit(absl::string_view name, const WrittenValues& operands,
                     absl::string_view attributes, absl::string_view regions,
                     const std::vector<Shape>& results, absl::string_view extra = "");
  // A value's leaves by get_tuple_element, and a tuple of leaves by `tuple`.
  WrittenValues TakenApart(const WrittenValue& value);
  WrittenValue PutTogether(const Shape& shape, const WrittenValues& leaves, size_t& next);

 private:
  absl::Status WriteInstruction(const Instruction& i);
  absl::Status WriteOther(const Instruction& i);  // by its row or simple name
  // The methods of forms.def.
  absl::Status WriteBitcast(const Instruction& i);
  absl::Status WriteCall(const Instruction& i);
  absl::Status WriteConditional(const Instruction& i);
  absl::Status WriteConstant(const Instruction& i);
  absl::Status WriteElement(const Instruction& i);
  absl::Status WriteFirstOperand(const Instruction& i);  // its values are the first operand's
  absl::Status WriteOperands(const Instruction& i);      // its values are all operands'
  absl::Status WriteRng(const Instruction& i);
  absl::Status WriteTransfer(const Instruction& i);
  absl::Status WriteWhile(const Instruction& i);
  // `({^bb0(%a: t): ...}` of a computation whose parameters are the block's arguments, or whose
  // values are given.
  absl::StatusOr<std::string> Region(const Computation& computation,
                                     const std::vector<WrittenValues>* given);
  WrittenValues OperandsOf(const Instruction& i);
  // The operands as StableHLO wants them: of one type, starts and sizes of dimensions apart or in
  // one array.
  WrittenValues ArrangedOperands(const Instruction& i);
  WrittenValues ElementsOf(const WrittenValue& vector);
  WrittenValue JoinedScalars(const WrittenValues& scalars);
  void Set(const Instruction& i, WrittenValues values) { values_[&i] = std::move(values); }

  WriterState& state_;
  int depth_;
  absl::flat_hash_map<const Instruction*, WrittenValues> values_;
};

// `{mhlo.sharding = "..."}`, or nothing: what stands beside an instruction's own attributes.
std::string ExtraAttributes(const Instruction& i);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
