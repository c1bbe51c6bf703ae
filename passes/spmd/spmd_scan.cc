// Scans, partitioned along dimensions that are not scanned. What a step computes of a slice must be
// elementwise, so that each partition can compute its part of the slice; a cut of the scanned
// dimension goes to another dimension that divides by it, for the while. Other scans are computed
// whole. No communication but what brings operands to that cut.
//   f32[128,1024] scanned along 1, devices=[8,1]: each partition scans f32[16,1024]
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "passes/spmd/spmd_visitor.h"

namespace hlokit {
namespace {

// Whether each instruction treats every element of a slice alike.
bool IsElementwise(const Computation& step, const DimVector& slice) {
  for (const Instruction* i : step.Instructions()) {
    if (i->opcode() == Opcode::kTuple) continue;
    if (!i->shape().IsArray()) return false;
    const bool is_scalar = i->shape().rank() == 0;
    if (is_scalar ? i->IsParameter() && !slice.empty() : i->shape().dims != slice) return false;
    const bool is_spread = i->opcode() == Opcode::kBroadcast && i->operand(0)->shape().rank() == 0;
    if (!is_scalar && !i->IsParameter() && !is_spread && !HasTrait(i->opcode(), kElementwise))
      return false;
  }
  return true;
}

// The same step on smaller slices.
Computation* StepOn(const Computation& step, const DimVector& slice, Module& module) {
  Computation* made = module.AddComputation(absl::StrCat(step.name(), "_spmd"));
  std::vector<Instruction*> known(module.id_bound());
  for (const Instruction* i : step.PostOrder()) {
    Shape shape = i->shape();
    if (shape.IsTuple()) {
      for (Shape& element : shape.elements) element.dims = slice;
    } else if (shape.rank() != 0) {
      shape.dims = slice;
    }
    std::vector<Instruction*> operands;
    for (const Instruction* operand : i->operands()) operands.push_back(known[operand->id()]);
    known[i->id()] = i->IsParameter() ? made->AddParameter(i->parameter_number(), shape, i->name())
                                      : made->Add(i->CloneWith(shape, operands), i->name());
  }
  made->set_root(known[step.root()->id()]);
  return made;
}

}  // namespace

absl::Status SpmdVisitor::Scan(const Instruction& i) {
  if (!i.shape().IsTuple() || i.operand_count() == 0) return Default(i);
  const int64_t d = i.attr<ScanAttrs>().dimensions[0];
  const Shape& first = i.operand(0)->shape();
  DimVector slice = first.dims;
  slice.erase(slice.begin() + d);
  const Cut& given = Of(i.operand(0)).cut();
  if (!given.IsTiled() || !IsElementwise(*i.to_apply(), slice)) return Default(i);
  for (const Instruction* operand : i.operands())
    if (operand->shape().dims != first.dims && operand->shape().dims != slice) return Default(i);
  Cut base = given;
  if (base.tiles[d] > 1) {
    DimVector order(base.rank());
    std::iota(order.begin(), order.end(), 0);
    const auto free = absl::c_find_if(order, [&](int64_t k) {
      return k != d && base.tiles[k] == 1 && first.dims[k] % base.tiles[d] == 0;
    });
    if (free == order.end()) {
      base = MadeWhole(base, {d});
    } else {
      std::swap(*free, order[d]);
      base = Transposed(base, order);
    }
  }
  if (!base.IsTiled()) return Default(i);
  const Cut of_slice = WithoutDims(base, {d});
  const auto cut_of = [&](const Shape& shape) { return shape.dims == slice ? of_slice : base; };
  std::vector<Instruction*> operands;
  for (const Instruction* operand : i.operands())
    operands.push_back(sharder_.To(Of(operand), cut_of(operand->shape())).value);
  std::vector<Cut> cuts;
  for (const Shape& element : i.shape().elements) cuts.push_back(cut_of(element));
  Instruction* made = Clone(i, PartitionedShape(i.shape(), cuts), operands);
  DimVector local = operands[0]->shape().dims;
  local.erase(local.begin() + d);
  made->set_called({StepOn(*i.to_apply(), local, *to_.module())});
  Set(i, Shard{made, i.shape(), std::move(cuts), scope_});
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
