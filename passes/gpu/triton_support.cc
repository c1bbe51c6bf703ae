// What Triton's emitter has, by opcode and type; see the header.
//   add f32: yes.  add f8e4m3fn: no, only convert.  complex, is-finite, dot of fusions like these:
//   no.
// The table follows XLA's lists: types with 1, 8, 16, 32 and 64 bits; bits and shifts of integers;
// functions of floats.
#include "passes/gpu/triton_support.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "passes/gpu/backend_config.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

bool HasTritonType(ElementType type) {
  switch (type) {
    case ElementType::kPred:
    case ElementType::kS8:
    case ElementType::kS16:
    case ElementType::kS32:
    case ElementType::kS64:
    case ElementType::kF16:
    case ElementType::kBF16:
    case ElementType::kF32:
    case ElementType::kF64:
      return true;
    default:
      return false;
  }
}

bool IsSmallFloat(ElementType type) {
  return type == ElementType::kF8E4M3FN || type == ElementType::kF8E5M2;
}

bool HasElementwise(Opcode opcode, ElementType type) {
  switch (opcode) {
    case Opcode::kIsFinite:
    case Opcode::kComplex:
    case Opcode::kReal:
    case Opcode::kImag:
    case Opcode::kPopulationCount:
    case Opcode::kCountLeadingZeros:
    case Opcode::kReducePrecision:
    case Opcode::kStochasticConvert:
    case Opcode::kMap:
      return false;
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
      return type == ElementType::kPred || IsInteger(type);
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
      return IsInteger(type);
    default:
      return true;
  }
}

// One array, one dimension, started at a constant.
bool HasReduction(const Instruction& i) {
  if (i.operand_count() != 2 || i.attr<DimensionsAttrs>().dimensions.size() != 1) return false;
  const Instruction* seed = i.operand(1);
  if (seed->opcode() == Opcode::kConvert) seed = seed->operand(0);
  return seed->IsConstant() && TritonHas(*i.to_apply());
}

}  // namespace

bool TritonHas(const Instruction& i) {
  const Shape& shape = i.shape();
  if (!shape.IsArray() || shape.HasDynamicDims()) return false;
  if (IsSmallFloat(shape.type))
    return i.opcode() == Opcode::kParameter || i.opcode() == Opcode::kConvert ||
           i.opcode() == Opcode::kBitcast || i.opcode() == Opcode::kReshape ||
           i.opcode() == Opcode::kTranspose || i.opcode() == Opcode::kBroadcast;
  if (!HasTritonType(shape.type)) return false;
  switch (i.opcode()) {
    case Opcode::kParameter:
    case Opcode::kIota:
    case Opcode::kBroadcast:
    case Opcode::kBitcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kSlice:
      return true;
    case Opcode::kConstant:
      return shape.ElementCount() == 1;
    case Opcode::kReduce:
      return HasReduction(i);
    default:
      return HasTrait(i.opcode(), kElementwise) && i.called().empty() && !i.HasSideEffect() &&
             i.operand_count() > 0 &&
             HasElementwise(i.opcode(), i.operand(i.operand_count() - 1)->shape().type);
  }
}

bool TritonHas(const Computation& computation) {
  for (const Instruction* i : computation.Instructions())
    if (!(i->IsRoot() && i->opcode() == Opcode::kTuple) && !TritonHas(*i)) return false;
  return true;
}

DimVector TileOf(const Shape& shape, int64_t most) {
  DimVector tile(shape.dims.size(), 1);
  int64_t held = 1;
  for (const int64_t d : shape.MinorToMajor()) {
    while (tile[d] < shape.dims[d] && held * 2 <= most) {
      tile[d] *= 2;
      held *= 2;
    }
    if (tile[d] < shape.dims[d]) break;
  }
  return tile;
}

void WriteTiles(Instruction& fusion, absl::Span<const DimVector> tiles) {
  int64_t largest = 1;
  std::vector<std::string> texts;
  for (const DimVector& tile : tiles) {
    int64_t held = 1;
    for (const int64_t size : tile) held *= size;
    largest = std::max(largest, held);
    texts.push_back(absl::StrCat("{\"sizes\":[",
                                 absl::StrJoin(tile, ",",
                                               [](std::string* out, int64_t size) {
                                                 absl::StrAppend(out, "\"", size, "\"");
                                               }),
                                 "]}"));
  }
  int64_t warps = 1;
  for (int64_t held = 512; held < largest && warps < 32; held *= 2) warps *= 2;
  BackendConfig config("");
  config.SetRaw("fusion_backend_config",
                absl::StrCat(R"({"kind":"__triton","block_level_fusion_config":{"num_warps":")",
                             warps, R"(","output_tiles":[)", absl::StrJoin(texts, ","),
                             R"(],"num_ctas":1,"num_stages":1}})"));
  config.WriteTo(fusion);
}

bool IsTritonFusion(const Instruction& i) {
  const BackendConfig whole = BackendConfig::Of(i);
  return i.opcode() == Opcode::kFusion &&
         BackendConfig(whole.Raw("fusion_backend_config")).Text("kind") == "__triton";
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
