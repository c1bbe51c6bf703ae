// Rules of iotas: movements of an iota are an iota along another dimension.
//   broadcast(iota), transpose(iota), reshape(iota) with dimensions of size 1 -> iota
//   iota * broadcast(c) -> broadcast(iota of one dimension * c)
//   {0, 2, 4, 6}[partition-id] -> 2 * partition-id    (tables that partitioners write)
#include "ir/module.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

bool IsIota(const Instruction* i) { return i->opcode() == Opcode::kIota; }
int64_t Along(const Instruction* iota) { return iota->attr<IotaAttrs>().iota_dimension; }
Instruction* Iota(const Shape& shape, int64_t dimension, Rewriter& r) {
  return r.Add(Opcode::kIota, shape, {}, IotaAttrs{dimension});
}

// An iota along a dimension of size one counts nothing.
Instruction* IotaOfOne(Instruction* i, Rewriter& r) {
  return i->shape().rank() > 0 && i->shape().dims[Along(i)] == 1 ? r.Splat(i->shape(), 0) : nullptr;
}

Instruction* BroadcastOfIota(Instruction* i, Rewriter& r) {
  const Instruction* iota = i->operand(0);
  if (!IsIota(iota)) return nullptr;
  return Iota(i->shape(), i->attr<BroadcastAttrs>().dimensions[Along(iota)], r);
}

// Dimensions of size one come or go.
Instruction* ReshapeOfIota(Instruction* i, Rewriter& r) {
  const Instruction* iota = i->operand(0);
  if (!IsIota(iota) || !SameWithoutOnes(iota->shape(), i->shape())) return nullptr;
  const int64_t to = MapWithoutOnes(iota->shape(), i->shape())[Along(iota)];
  return to < 0 ? nullptr : Iota(i->shape(), to, r);
}

Instruction* TransposeOfIota(Instruction* i, Rewriter& r) {
  const Instruction* iota = i->operand(0);
  if (!IsIota(iota)) return nullptr;
  const DimVector& order = i->attr<DimensionsAttrs>().dimensions;
  for (size_t d = 0; d < order.size(); ++d)
    if (order[d] == Along(iota)) return Iota(i->shape(), static_cast<int64_t>(d), r);
  return nullptr;
}

// f(iota, broadcast(c)) counts along one dimension only: broadcast(f(iota of that one, c)), as XLA,
// which sinks the broadcast that JAX writes an iota with before it is an iota again.
Instruction* ElementwiseOfIota(Instruction* i, Rewriter& r) {
  if (!i->shape().IsArray() || i->opcode() == Opcode::kCopy || i->shape().HasDynamicDims())
    return nullptr;
  const Instruction* iota = nullptr;
  for (const Instruction* x : i->operands()) {
    if (x->shape().dims != i->shape().dims) return nullptr;
    if (x->opcode() == Opcode::kBroadcast && x->operand(0)->shape().IsScalar()) continue;
    if (!IsIota(x) || (iota != nullptr && Along(x) != Along(iota))) return nullptr;
    iota = x;
  }
  if (iota == nullptr) return nullptr;
  const int64_t size = i->shape().dims[Along(iota)];
  if (size == 0 || size == i->shape().ElementCount()) return nullptr;
  const auto line = [&](ElementType type) {
    return Shape::Array(type, {size}).WithDefaultLayout();
  };
  std::vector<Instruction*> operands;
  for (const Instruction* x : i->operands()) {
    const Shape shape = line(x->shape().type);
    operands.push_back(IsIota(x) ? Iota(shape, 0, r) : r.Broadcast(x->operand(0), shape, {}));
  }
  return r.Broadcast(r.Clone(i, line(i->shape().type), operands), i->shape(), {Along(iota)});
}

// How many devices the number of `i` tells apart; 0 if it is no such number.
int64_t DevicesOf(const Instruction* i) {
  if (i->opcode() == Opcode::kConvert && BitWidth(i->shape().type) >= 32) i = i->operand(0);
  const ModuleHeader& header = i->parent()->module()->header();
  if (i->opcode() == Opcode::kPartitionId) return header.num_partitions;
  return i->opcode() == Opcode::kReplicaId ? header.replica_count : 0;
}

// The step between the numbers of a list that begins with 0; nothing where it is no such list.
std::optional<int64_t> StepOf(const Instruction* i) {
  const Literal* list = i->IsConstant() ? i->literal() : nullptr;
  if (list == nullptr || i->shape().rank() != 1 || !IsInteger(i->shape().type) ||
      BitWidth(i->shape().type) < 32 || i->shape().dims[0] < 2)
    return std::nullopt;
  const int64_t step = list->GetInt(1);
  for (int64_t k = 0; k < i->shape().dims[0]; ++k)
    if (list->GetInt(k) != k * step || list->GetInt(k) < 0) return std::nullopt;
  return step;
}

// {0, 2, 4, 6}[number of this device] is twice that number.
Instruction* TableOfDevices(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 2 || i->shape().rank() != 1 || i->shape().dims[0] != 1) return nullptr;
  const Instruction* table = i->operand(0);
  Instruction* device = i->operand(1);
  const std::optional<int64_t> step = StepOf(table);
  const int64_t devices = DevicesOf(device);
  if (!step || devices == 0 || devices > table->shape().dims[0]) return nullptr;
  const Shape scalar = Shape::Scalar(i->shape().type);
  if (device->shape().type != scalar.type) device = r.Add(Opcode::kConvert, scalar, {device});
  if (*step != 1) device = r.Add(Opcode::kMultiply, scalar, {device, r.FillInt(scalar, *step)});
  return r.Reshape(device, i->shape());
}

constexpr Rule kIotaRules[] = {
    {"iota-of-one", Opcode::kIota, IotaOfOne},
    {"broadcast-of-iota", Opcode::kBroadcast, BroadcastOfIota},
    {"reshape-of-iota", Opcode::kReshape, ReshapeOfIota},
    {"transpose-of-iota", Opcode::kTranspose, TransposeOfIota},
    {"table-of-devices", Opcode::kDynamicSlice, TableOfDevices},
};

std::vector<Rule> MakeIotaFormRules() {
  std::vector<Rule> rules;
  for (int k = 0; k < kOpcodeCount; ++k) {
    const Opcode opcode = static_cast<Opcode>(k);
    if (HasTrait(opcode, kElementwise) && opcode != Opcode::kBitcastConvert)
      rules.push_back({"elementwise-of-iota", opcode, ElementwiseOfIota});
  }
  return rules;
}

}  // namespace

absl::Span<const Rule> IotaFormRules() {
  static const std::vector<Rule>* rules = new std::vector<Rule>(MakeIotaFormRules());
  return *rules;
}

absl::Span<const Rule> IotaRules() { return kIotaRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
