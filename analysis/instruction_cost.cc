// Sums over shapes.
//
// A cost is three numbers: flops (an addition and a multiplication count one each), transcendental
// functions, and bytes read and written once each.
//   dot f32[64,128] x f32[128,32]: 2 * 64 * 32 * 128 flops,
//                                  4 * (64 * 128 + 128 * 32 + 64 * 32) bytes
// Which formula an opcode has is its CostClass in ir/ops.def. Where a computation is called for
// each element (map, reduce), its cost counts as often. Modules need not be verified: a dimension
// that is not there counts 1.
#include "analysis/instruction_cost.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "analysis/call_cost.h"
#include "analysis/dim_size.h"
#include "ir/computation.h"
#include "ir/op_facts.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

double ElementsOf(const Shape& shape) {
  double count = 0;
  for (const ShapeLeaf& leaf : Leaves(shape))
    if (leaf.shape->IsArray()) count += static_cast<double>(leaf.shape->ElementCount());
  return count;
}

double Bytes(const Shape& shape) { return static_cast<double>(TotalBytes(shape)); }

double DotFlops(const Instruction& i) {
  double steps = 2 * ElementsOf(i.shape());
  for (int64_t d : i.attr<DotAttrs>().lhs_contracting_dims)
    steps *= SizeOfDim(i.operand(0)->shape(), d);
  return steps;
}

// Each result is a sum over what one output feature's kernel holds.
double ConvolutionFlops(const Instruction& i) {
  const auto& attrs = i.attr<ConvolutionAttrs>();
  const Shape& kernel = i.operand(1)->shape();
  const double features = SizeOfDim(kernel, attrs.dim_labels.kernel_output_feature);
  return 2 * ElementsOf(i.shape()) * ElementsOf(kernel) / std::max(1.0, features);
}

// Each row meets one group's matrix. Where the groups cut what is summed up, each of the results'
// groups sums its part of it.
double RaggedDotFlops(const Instruction& i) {
  const auto& attrs = i.attr<RaggedDotAttrs>();
  double steps = 2 * ElementsOf(i.shape());
  for (int64_t d : attrs.lhs_contracting_dims) steps *= SizeOfDim(i.operand(0)->shape(), d);
  const bool cut =
      std::any_of(attrs.lhs_ragged_dims.begin(), attrs.lhs_ragged_dims.end(),
                  [&](int64_t d) { return absl::c_linear_search(attrs.lhs_contracting_dims, d); });
  return cut && i.operand_count() > 2 ? steps / SizeOfDim(i.operand(2)->shape(), 0) : steps;
}

// By rows of square matrices: n^3 / 3 to factor, n^2 for each line that is solved for.
double MatrixFlops(const Instruction& i, double divisor) {
  const Shape& matrix = i.operand(0)->shape();
  return ElementsOf(i.shape()) * (SizeOfDim(matrix, matrix.rank() - 1) / divisor);
}

// Five for each element and halving of a line.
double FftFlops(const Instruction& i) {
  const auto& attrs = i.attr<FftAttrs>();
  double line = 1;
  for (int64_t n : attrs.fft_length) line *= static_cast<double>(std::max<int64_t>(1, n));
  const double elements = std::max(ElementsOf(i.operand(0)->shape()), ElementsOf(i.shape()));
  const bool real = attrs.fft_type == FftType::kRfft || attrs.fft_type == FftType::kIrfft;
  return elements * std::log2(line) * (real ? 2.5 : 5);
}

double ReduceFlops(const Instruction& i) {
  double read = 0;
  for (int64_t o = 0; o < i.operand_count() / 2; ++o) read += ElementsOf(i.operand(o)->shape());
  return read;
}

double WindowFlops(const Instruction& i) {
  double window = 1;
  for (const WindowDim& w : i.attr<WindowAttrs>().window) window *= static_cast<double>(w.size);
  return window * ElementsOf(i.shape());
}

double Flops(const Instruction& i);

double BodyFlops(const Instruction& i) {
  double sum = 0;
  for (const Instruction* inside : i.to_apply()->Instructions()) sum += Flops(*inside);
  return sum;
}

double Flops(const Instruction& i) {
  switch (Facts(i.opcode()).cost) {
    case CostClass::kFree:
    case CostClass::kMovement:
    case CostClass::kIndexing:
    case CostClass::kUncounted:
      return 0;
    case CostClass::kArithmetic:
    case CostClass::kDivision:
    case CostClass::kFunction:
    case CostClass::kLongFunction:
      return ElementsOf(i.shape());
    case CostClass::kSums:
      return ReduceFlops(i);
    case CostClass::kWindowSums:
      return WindowFlops(i);
    case CostClass::kProducts:
      return DotFlops(i);
    case CostClass::kGroupedProducts:
      return RaggedDotFlops(i);
    case CostClass::kWindowProducts:
      return ConvolutionFlops(i);
    case CostClass::kFactorization:
      return MatrixFlops(i, 3);
    case CostClass::kSubstitution:
      return MatrixFlops(i, 1);
    case CostClass::kTransform:
      return FftFlops(i);
    case CostClass::kBody:
      return BodyFlops(i);
    case CostClass::kForeign:
      return CallFlops(i);
  }
  return 0;
}

double Transcendentals(const Instruction& i) {
  if (i.opcode() != Opcode::kFusion)
    return HasTrait(i.opcode(), kTranscendental) ? ElementsOf(i.shape()) : 0;
  double sum = 0;
  for (const Instruction* inside : i.to_apply()->Instructions()) sum += Transcendentals(*inside);
  return sum;
}

bool ReadsItsResultOnly(const Instruction& i) {
  return i.opcode() == Opcode::kDynamicSlice || i.opcode() == Opcode::kSlice ||
         i.opcode() == Opcode::kGather;
}

// What is read of an array by `user`.
double BytesRead(const Instruction& user, int64_t o) {
  const Shape& shape = user.operand(o)->shape();
  if (ReadsItsResultOnly(user) && o == 0) return Bytes(user.shape());
  if (user.opcode() == Opcode::kDynamicUpdateSlice && o == 0) return 0;
  if (user.opcode() != Opcode::kFusion || o >= user.to_apply()->parameter_count())
    return Bytes(shape);
  const Instruction* parameter = user.to_apply()->parameter(o);
  double read = 0;
  for (const Instruction* inside : parameter->users())
    for (int64_t k = 0; k < inside->operand_count(); ++k)
      if (inside->operand(k) == parameter) read = std::max(read, BytesRead(*inside, k));
  return std::min(read, Bytes(shape));
}

double BytesWritten(const Instruction& i) {
  const Instruction* root = i.opcode() == Opcode::kFusion ? i.to_apply()->root() : &i;
  if (root->opcode() == Opcode::kDynamicUpdateSlice) return Bytes(root->operand(1)->shape());
  if (root->opcode() == Opcode::kCustomCall) return Bytes(i.shape()) - WorkspaceBytes(*root);
  return Bytes(i.shape());
}

}  // namespace

bool CostsNothing(Opcode opcode) { return Facts(opcode).cost == CostClass::kFree; }

namespace {

// What an asynchronous operation runs and what started a transfer pay for these.
bool IsPaidElsewhere(Opcode opcode) {
  return HasTrait(opcode, kAsyncDone) || Info(opcode).calls == CallForm::kAsyncCalls;
}

}  // namespace

InstructionCost CostOf(const Instruction& i) {
  if (CostsNothing(i.opcode()) || IsPaidElsewhere(i.opcode())) return {};
  InstructionCost cost = {Flops(i), Transcendentals(i), BytesWritten(i)};
  for (int64_t o = 0; o < i.operand_count(); ++o) cost.bytes += BytesRead(i, o);
  return cost;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
