// What pictures say of an instruction: its title, the lines below it, and what a hover shows.
#pragma once

#include <string>
#include <vector>

#include "ir/stack_frames.h"

namespace hlokit {

// `add.5`, or `add.5` with its opcode where the name does not tell it: `fusion.3 (fusion:kLoop)`,
// `x (Parameter 0)`.
std::string TitleOf(const Instruction& instruction);

// Attributes worth a line in a picture, each `name=value` cut to a readable length: dimensions,
// windows, groups of devices, comparison, custom-call target, slices, control predecessors.
std::vector<std::string> AttributeLines(const Instruction& instruction);

// The shape as pictures show it, layout included where the rank is above 1, cut to 64 bytes.
std::string ShapeLine(const Shape& shape);

// The value of a constant of at most 8 elements and 64 bytes; else its name and shape.
std::string ConstantText(const Instruction& constant);

// `file:line` of the metadata and `file:line (function)` of the frames of its call stack, the
// innermost first, 16 at most; empty where the module does not say.
std::vector<std::string> SourceFrames(const Instruction& instruction);

// `file:line (function)`.
std::string FrameText(const StackFrame& frame);

// op_name, op_type, source frames and the instruction's full text, a line each, for a hover.
std::string TooltipOf(const Instruction& instruction);

// At most `most` bytes, cut between characters of UTF-8, with `...` where something was cut.
// Control characters and bytes that are no UTF-8 become '?'.
std::string Shown(absl::string_view text, size_t most);

// 12, 3.4k, 5.6M, 7.8G: counts and flops.
std::string CountText(double count);
// 12 B, 3.4 KiB, 5.6 MiB.
std::string BytesText(double bytes);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
