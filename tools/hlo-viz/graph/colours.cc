// Tables of colours and of the opcodes that have them, those of XLA's hlo_graph_dumper.
#include "tools/hlo-viz/graph/colours.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_format.h"

namespace hlokit {
namespace {

struct LookRow {
  const char* meaning;
  Colours colours;
};

const LookRow kLooks[kLookCount] = {
    {"elementwise and others", {"#ffffff", "#9e9e9e", "#000000"}},
    {"collectives, host transfers", {"#bcaaa4", "#8c7b75", "#000000"}},
    {"dot, convolution, solvers", {"#1565c0", "#003c8f", "#ffffff"}},
    {"calls, loops, branches", {"#2e7d32", "#005005", "#ffffff"}},
    {"small parameter", {"#ffe0b2", "#cbae82", "#000000"}},
    {"large parameter", {"#ffb74d", "#c88719", "#000000"}},
    {"highlighted", {"#b71c1c", "#7f0000", "#ffffff"}},
    {"fusion", {"#cfd8dc", "#9ea7aa", "#000000"}},
    {"moves data", {"#c8e6c9", "#97b498", "#000000"}},
    {"reduces, gathers, scatters", {"#e1bee7", "#af8eb5", "#000000"}},
    {"broadcast, update in place", {"#fff9c4", "#cbc693", "#000000"}},
};

struct OpcodeLook {
  Opcode opcode;
  Look look;
};

// Collectives have the trait kCollective and need no row; what has none is white.
constexpr OpcodeLook kByOpcode[] = {
    {Opcode::kInfeed, Look::kBrown},
    {Opcode::kOutfeed, Look::kBrown},
    {Opcode::kPartitionId, Look::kBrown},
    {Opcode::kReplicaId, Look::kBrown},
    {Opcode::kRecv, Look::kBrown},
    {Opcode::kRecvDone, Look::kBrown},
    {Opcode::kSend, Look::kBrown},
    {Opcode::kSendDone, Look::kBrown},
    {Opcode::kAllGatherDone, Look::kBrown},
    {Opcode::kAllReduceDone, Look::kBrown},
    {Opcode::kCollectivePermuteDone, Look::kBrown},
    {Opcode::kCholesky, Look::kDarkBlue},
    {Opcode::kConvolution, Look::kDarkBlue},
    {Opcode::kDot, Look::kDarkBlue},
    {Opcode::kFft, Look::kDarkBlue},
    {Opcode::kRaggedDot, Look::kDarkBlue},
    {Opcode::kScaledDot, Look::kDarkBlue},
    {Opcode::kTriangularSolve, Look::kDarkBlue},
    {Opcode::kAsyncDone, Look::kDarkGreen},
    {Opcode::kAsyncStart, Look::kDarkGreen},
    {Opcode::kAsyncUpdate, Look::kDarkGreen},
    {Opcode::kCall, Look::kDarkGreen},
    {Opcode::kConditional, Look::kDarkGreen},
    {Opcode::kCustomCall, Look::kDarkGreen},
    {Opcode::kWhile, Look::kDarkGreen},
    {Opcode::kDomain, Look::kGrey},
    {Opcode::kFusion, Look::kGrey},
    {Opcode::kGetDimensionSize, Look::kGrey},
    {Opcode::kMap, Look::kGrey},
    {Opcode::kSetDimensionSize, Look::kGrey},
    {Opcode::kConcatenate, Look::kGreen},
    {Opcode::kCopy, Look::kGreen},
    {Opcode::kCopyDone, Look::kGreen},
    {Opcode::kCopyStart, Look::kGreen},
    {Opcode::kDynamicReshape, Look::kGreen},
    {Opcode::kDynamicSlice, Look::kGreen},
    {Opcode::kPad, Look::kGreen},
    {Opcode::kReshape, Look::kGreen},
    {Opcode::kReverse, Look::kGreen},
    {Opcode::kSlice, Look::kGreen},
    {Opcode::kTranspose, Look::kGreen},
    {Opcode::kBatchNormGrad, Look::kPurple},
    {Opcode::kBatchNormInference, Look::kPurple},
    {Opcode::kBatchNormTraining, Look::kPurple},
    {Opcode::kGather, Look::kPurple},
    {Opcode::kReduce, Look::kPurple},
    {Opcode::kReduceWindow, Look::kPurple},
    {Opcode::kScan, Look::kPurple},
    {Opcode::kScatter, Look::kPurple},
    {Opcode::kSelectAndScatter, Look::kPurple},
    {Opcode::kSort, Look::kPurple},
    {Opcode::kTopK, Look::kPurple},
    {Opcode::kBroadcast, Look::kYellow},
    {Opcode::kDynamicUpdateSlice, Look::kYellow},
};

std::array<Look, kOpcodeCount> TableByOpcode() {
  std::array<Look, kOpcodeCount> table;
  for (int k = 0; k < kOpcodeCount; ++k)
    table[k] = HasTrait(static_cast<Opcode>(k), kCollective) ? Look::kBrown : Look::kWhite;
  for (const OpcodeLook& row : kByOpcode) table[static_cast<int>(row.opcode)] = row.look;
  return table;
}

std::string Hex(double red, double green, double blue) {
  const auto byte = [](double v) { return static_cast<int>(std::lround(std::clamp(v, 0., 255.))); };
  return absl::StrFormat("#%02x%02x%02x", byte(red), byte(green), byte(blue));
}

}  // namespace

Look LookOf(const Instruction& instruction, bool fused) {
  static const std::array<Look, kOpcodeCount> table = TableByOpcode();
  if (instruction.IsParameter())
    return instruction.shape().IsArray() && instruction.shape().ElementCount() >= kLargeElements
               ? Look::kDarkOrange
               : Look::kOrange;
  if (instruction.opcode() == Opcode::kBitcast && fused) return Look::kGreen;
  return table[static_cast<int>(instruction.opcode())];
}

const Colours& ColoursOf(Look look) { return kLooks[static_cast<int>(look)].colours; }
absl::string_view Meaning(Look look) { return kLooks[static_cast<int>(look)].meaning; }

Colours Heat(double share) {
  const double t = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  const double root = std::sqrt(t);  // what takes a tenth should be seen
  return {Hex(245 + 10 * root, 245 - 200 * root, 245 - 245 * root),
          Hex(170 + 30 * root, 170 - 140 * root, 170 - 170 * root),
          root > 0.8 ? "#ffffff" : "#000000"};
}

Colours Category(int64_t k) {
  constexpr const char* kCycle[][2] = {
      {"#bbdefb", "#6f9bc4"}, {"#ffccbc", "#cb8f7a"}, {"#c8e6c9", "#7fa982"},
      {"#e1bee7", "#a87fb0"}, {"#fff59d", "#c4b64f"}, {"#b2dfdb", "#6fa8a3"},
      {"#f8bbd0", "#c07f97"}, {"#d7ccc8", "#978880"}, {"#c5cae9", "#8188b8"},
      {"#dcedc8", "#98ad7b"}, {"#ffe0b2", "#cba66c"}, {"#b3e5fc", "#6eadc8"},
  };
  const auto& row = kCycle[static_cast<size_t>(k) % std::size(kCycle)];
  return {row[0], row[1], "#000000"};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
