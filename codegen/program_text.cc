// What hlo-opt --stage=program prints: a line per step, the sequences that it runs indented below
// it, and the copies that BufferAssignment asks for where they happen.
#include "absl/strings/str_cat.h"
#include "codegen/program.h"

namespace hlokit {
namespace {

// "arena[64:128]": the bytes from 64 up to 128 of the arena.
std::string SliceText(const Slice& slice) {
  const std::string range = absl::StrCat("[", slice.offset, ":", slice.offset + slice.size, "]");
  switch (slice.kind) {
    case Slice::Kind::kNone:
      return "none";
    case Slice::Kind::kArena:
      return absl::StrCat("arena", range);
    case Slice::Kind::kParameter:
      return absl::StrCat("parameter", slice.index, range);
    case Slice::Kind::kConstant:
      return absl::StrCat("constant", slice.index, range);
    case Slice::Kind::kOutput:
      return absl::StrCat("output", slice.index, range);
  }
  return "";
}

std::string SlicesText(const std::vector<Slice>& slices) {
  std::string text = "(";
  for (const Slice& slice : slices)
    absl::StrAppend(&text, text.size() == 1 ? "" : ", ", SliceText(slice));
  return absl::StrCat(text, ")");
}

// Indented lines; sequences below the steps that run them. Computations nest no deeper than
// BufferAssignment allows.
class Writer {
 public:
  explicit Writer(const Program& program) : program_(program) {}

  std::string Write() {
    Append("entry %", program_.entry().computation->name());
    WriteSequence(program_.entry());
    return std::move(text_);
  }

 private:
  void WriteSequence(const StepSequence& sequence) {
    depth_ += 2;
    for (const Step& step : sequence.steps) WriteStep(step);
    for (const BufferCopy& copy : sequence.copies) WriteCopy(copy);
    depth_ -= 2;
  }

  void WriteStep(const Step& step) {
    for (const BufferCopy& copy : step.copies) WriteCopy(copy);
    const Instruction& i = *step.instruction;
    const bool same = Text(step.kind) == Text(i.opcode());
    Append(Text(step.kind), same ? "" : " ", same ? "" : Text(i.opcode()), " %", i.name(),
           SlicesText(step.operands), " -> ", SlicesText(step.results));
    depth_ += 2;
    for (size_t b = 0; b < step.bodies.size(); ++b) {
      const StepSequence& body = program_.sequences[step.bodies[b]];
      const bool condition = step.kind == StepKind::kWhile && b == 0;
      Append(Role(step.kind, b), " %", body.computation->name(), condition ? " -> " : "",
             condition ? SliceText(step.selector) : "");
      WriteSequence(body);
    }
    depth_ -= 2;
  }

  // What a step runs its body as: a while has a condition, then a body.
  static std::string Role(StepKind kind, size_t body) {
    if (kind == StepKind::kConditional) return absl::StrCat("branch ", body);
    if (kind == StepKind::kCall) return "callee";
    return body == 0 ? "condition" : "body";
  }

  void WriteCopy(const BufferCopy& copy) {
    const bool staged = copy.staging.kind != Slice::Kind::kNone;
    Slice staging = copy.staging;
    staging.size = copy.to.size;
    Append("copy ", SliceText(copy.from), staged ? " -> " + SliceText(staging) : "", " -> ",
           SliceText(copy.to));
  }

  template <typename... Pieces>
  void Append(const Pieces&... pieces) {
    absl::StrAppend(&text_, std::string(depth_, ' '), pieces..., "\n");
  }

  const Program& program_;
  size_t depth_ = 0;
  std::string text_;
};

}  // namespace

std::string ProgramText(const Program& program) { return Writer(program).Write(); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
