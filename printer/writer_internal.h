// The writer behind Print: appends instructions and computations to one string.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/frontend_attributes.h"
#include "ir/module.h"
#include "printer/print_options.h"
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
  void AppendExtraAttributes(const Instruction& i, const Instruction* sugared,
                             const Instruction* around = nullptr);
  void AppendCalls(const Instruction& i);
  void AppendCall(absl::string_view attribute, const Computation* called);
  void AppendCalled(const Computation* called);  // its name, or its body
  void AppendCallList(absl::string_view attribute, absl::Span<Computation* const> called);
  // Frontend attributes and statistics are left out where `around`, the start of the asynchronous
  // operation that `i` is written into, has its own: text may give an attribute once.
  void AppendTraits(const Instruction& i, const Instruction* around);
  void AppendMetadata(const OpMetadata& m);
  void AppendBackendConfig(const Instruction& i);

  void AppendShape(const Shape& shape, bool with_layout);
  // Appends what `append` writes for the thing at `what`, a copy where that was written before.
  template <typename Fn>
  void AppendOnce(const void* what, Fn append) {
    if (written_.empty()) return append();
    const uint64_t hash = reinterpret_cast<uintptr_t>(what) * 0x9E3779B97F4A7C15u;
    Written& written = written_[hash >> (64 - kWrittenBits)];
    if (written.what == what) {
      out_.append(out_, written.at, written.length);
      return;
    }
    const size_t at = out_.size();
    append();
    written = {what, at, out_.size() - at};
  }

  using Names = absl::flat_hash_map<const Instruction*, int64_t>;
  static Names NumbersOf(absl::Span<Instruction* const> order);

  // What stands where in out_.
  struct Written {
    const void* what = nullptr;
    size_t at = 0, length = 0;
  };
  static constexpr int kWrittenBits = 9;

  std::string& out_;
  const PrintOptions& options_;
  const StackFrameNumbering* frames_;
  std::vector<Written> written_;  // shapes and metadata that many share; for whole computations
  int indent_ = 0;                // of the instructions being written
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
