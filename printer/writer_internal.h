// The writer behind Print: appends instructions and computations to one string.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "printer/printer.h"
#include "printer/stack_frames.h"

namespace hlokit {

class Writer {
 public:
  static constexpr int kIndent = 2;  // blanks a level

  // `frames`: how the text numbers stack frames; null: as the module does.
  Writer(std::string& out, const PrintOptions& options, const StackFrameNumbering* frames = nullptr)
      : out_(out), options_(options), frames_(frames) {}

  void AppendComputation(const Computation& computation);
  // `name = shape opcode(operands), attributes`.
  void AppendInstruction(const Instruction& i);
  // `, frontend_attributes`'s value: {a="b",c={d=e}}, by key.
  void AppendFrontendAttributes(FrontendAttributes attributes);

 private:
  void AppendBody(const Computation& computation, int indent, bool in_place);
  void AppendSignature(const Computation& computation);
  // `%add.1`, as much of it as the options want.
  void AppendName(absl::string_view name);
  void AppendIdentifier(absl::string_view name);  // without the percent sign
  void AppendNumber(const Instruction& i);        // its canonical name
  void AppendOperand(const Instruction& operand);
  void AppendOperands(const Instruction& i);
  void AppendConstant(const Instruction& i);
  // Attributes, called computations, sharding, ... origin: all that XLA calls extra attributes.
  void AppendExtraAttributes(const Instruction& i, const Instruction* sugared);
  void AppendCalls(const Instruction& i);
  void AppendCall(absl::string_view attribute, const Computation* called);
  void AppendCalled(const Computation* called);  // its name, or its body
  void AppendCallList(absl::string_view attribute, absl::Span<Computation* const> called);
  void AppendTraits(const Instruction& i);
  void AppendMetadata(const Instruction& i);
  void AppendBackendConfig(const Instruction& i);

  using Names = absl::flat_hash_map<const Instruction*, int64_t>;
  static Names NumbersOf(absl::Span<Instruction* const> order);

  std::string& out_;
  const PrintOptions& options_;
  const StackFrameNumbering* frames_;
  int indent_ = 0;  // of the instructions being written
  // Of the computation being written, where names are canonical. Null then where an instruction is
  // written alone: it and its operands have no names.
  const Names* numbers_ = nullptr;
};

// `{op_name="a" stack_frame_id=1}`, with the frame's number as the text counts.
void AppendMetadataValue(std::string& out, const OpMetadata& metadata, int64_t frame);

// The one instruction besides parameters that an asynchronous operation wraps, or null where text
// cannot leave out the wrapping computation.
const Instruction* WrappedInstruction(const Instruction& async);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
