// Collectives in forms that some targets want.
//
// Other forms of transfers.
#include <algorithm>
#include <map>

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/expander.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

// What is left of an array without its dimensions of size one, but for the gathered one.
struct WithoutOnes {
  DimVector from, to;  // sizes before and after the all-gather
  int64_t place = 0;   // of the gathered dimension
};

WithoutOnes LeaveOut(const Shape& from, const Shape& to, int64_t dim) {
  WithoutOnes left;
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (from.dims[d] == 1 && d != dim) continue;
    if (d == dim) left.place = static_cast<int64_t>(left.from.size());
    left.from.push_back(from.dims[d]);
    left.to.push_back(to.dims[d]);
  }
  return left;
}

// Of several arrays all must have the gathered dimension at one place in what is left.
Made GatherWithoutOnes(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kAllGather || i->shape().HasDynamicDims() ||
      i->attr<AllGatherAttrs>().constrain_layout)
    return nullptr;
  const bool tuple = i->shape().IsTuple();
  const int64_t dim = i->attr<AllGatherAttrs>().dimensions[0];
  std::vector<WithoutOnes> left;
  bool shorter = false;
  for (int64_t k = 0; k < i->operand_count(); ++k) {
    const Shape& from = i->operand(k)->shape();
    left.push_back(LeaveOut(from, tuple ? i->shape().elements[k] : i->shape(), dim));
    shorter |= static_cast<int64_t>(left[k].from.size()) < from.rank();
    if (left[k].place != left[0].place) return nullptr;
  }
  if (!shorter) return nullptr;
  HloWriter w(r);
  std::vector<Instruction*> operands, results;
  std::vector<Shape> shapes;
  for (int64_t k = 0; k < i->operand_count(); ++k) {
    operands.push_back(w.Reshape(i->operand(k), left[k].from));
    shapes.push_back(RowMajor(i->operand(k)->shape().type, left[k].to));
  }
  Instruction* gather = r.Clone(i, tuple ? Shape::Tuple(shapes) : shapes[0], operands);
  gather->mutable_attr<AllGatherAttrs>().dimensions = {left[0].place};
  if (!tuple) return r.Reshape(gather, i->shape());
  for (int64_t k = 0; k < i->operand_count(); ++k)
    results.push_back(r.Reshape(w.Part(gather, k), i->shape().elements[k]));
  return w.Tuple(results);
}

// The pair that closes the ring, where the pairs lead from each device that sends to all others and
// back: the last one; of pairs that go down, the first. Null where they are no ring.
const std::pair<int64_t, int64_t>* ClosingPair(const IntPairs& pairs) {
  std::map<int64_t, int64_t> target;
  for (const auto& [from, to] : pairs) target[from] = to;
  if (pairs.size() < 2 || target.size() != pairs.size()) return nullptr;
  int64_t at = pairs[0].first;
  for (size_t k = 0; k < pairs.size(); ++k) {
    const auto next = target.find(at);
    if (next == target.end()) return nullptr;
    at = next->second;
    if (at == pairs[0].first && k + 1 < pairs.size()) return nullptr;
  }
  if (at != pairs[0].first) return nullptr;
  const bool goes_down =
      pairs.size() > 2 && std::all_of(pairs.begin() + 1, pairs.end(), [](const auto& pair) {
        return pair.second + 1 == pair.first;
      });
  return goes_down ? &pairs.front() : &pairs.back();
}

Made CutRing(Instruction* i, Rewriter& r, int64_t bytes) {
  if (i->opcode() != Opcode::kCollectivePermute || i->operand_count() != 1 ||
      !i->shape().IsArray() || i->shape().ByteSize() < bytes)
    return nullptr;
  const auto& attrs = i->attr<CollectivePermuteAttrs>();
  const ModuleHeader& header = i->module()->header();
  const auto* closing = ClosingPair(attrs.source_target_pairs);
  if (closing == nullptr || (attrs.channel_id && header.replica_count != 1) ||
      (!attrs.channel_id && header.num_partitions != 1))
    return nullptr;
  IntPairs rest;
  for (const auto& pair : attrs.source_target_pairs)
    if (pair != *closing) rest.push_back(pair);
  HloWriter w(r);
  const Opcode id = attrs.channel_id ? Opcode::kPartitionId : Opcode::kReplicaId;
  Instruction* device = r.Add(id, RowMajor(ElementType::kU32, {}), {});
  Instruction* closes =
      w.Compare(device, w.Integer(ElementType::kU32, closing->second), ComparisonDirection::kEq);
  Instruction* halves[2];
  for (int k : {0, 1}) {
    halves[k] = r.Clone(i, i->shape(), {i->operand(0)});
    auto& own = halves[k]->mutable_attr<CollectivePermuteAttrs>();
    own.source_target_pairs = k == 0 ? IntPairs{*closing} : rest;
    if (k == 1 && own.channel_id) own.channel_id = LargestChannel(*i->module()) + 1;
  }
  return r.Add(Opcode::kSelect, i->shape(), {closes, halves[0], halves[1]});
}

Made GatherAndReduce(Instruction* i, Rewriter& r, int64_t max_bytes) {
  if (i->opcode() != Opcode::kAllReduce || i->operand_count() != 1 || !i->shape().IsArray() ||
      i->shape().HasDynamicDims() || i->shape().ByteSize() > max_bytes)
    return nullptr;
  const auto opcode = ReducerOpcode(*i->to_apply());
  const int64_t size = GroupSize(*i);
  const ElementType type = i->shape().type;
  if (!opcode || size < 1 || IsComplex(type)) return nullptr;
  HloWriter w(r);
  Instruction* start = nullptr;
  switch (*opcode) {
    case Opcode::kAdd:
      // Types without a negative zero have NaN in its place.
      start = !IsFloat(type) ? w.Integer(type, 0)
                             : w.Number(type, FormatOf(type).has_negative_zero ? -0.0 : 0.0);
      break;
    case Opcode::kMaximum:
      start = w.Lowest(type);
      break;
    case Opcode::kMinimum:
      start = w.Highest(type);
      break;
    default:
      return nullptr;
  }
  DimVector dims = i->operand(0)->shape().dims;
  dims.insert(dims.begin(), 1);
  Instruction* own = w.Reshape(i->operand(0), dims);
  dims[0] = size;
  const auto& attrs = i->attr<AllReduceAttrs>();
  AllGatherAttrs gather;
  gather.channel_id = attrs.channel_id;
  gather.replica_groups = attrs.replica_groups;
  gather.use_global_device_ids = attrs.use_global_device_ids;
  gather.dimensions.push_back(0);
  Instruction* all = r.Add(Opcode::kAllGather, RowMajor(type, dims), {own}, std::move(gather));
  return w.Reduce(all, start, {0}, i->to_apply());
}

}  // namespace

// all-gather-remove-degenerate-dims: all-gathers do without the dimensions of size one
// that they do not gather along, with reshapes around them. Exact.
std::unique_ptr<Pass> CreateAllGatherRemoveDegenerateDims() {
  return MakeExpander("all-gather-remove-degenerate-dims", GatherWithoutOnes);
}

// collective-permute-cycle-decomposer: a permutation that sends round in one ring becomes two
// without rings, and a choice by the device. Option `bytes`: smaller arrays stay (0). Exact.
std::unique_ptr<Pass> CreateCollectivePermuteCycleDecomposer(PassArguments& arguments) {
  const int64_t bytes = arguments.Int("bytes", 0, "smaller arrays stay");
  return MakeExpander("collective-permute-cycle-decomposer",
                      [bytes](Instruction* i, Rewriter& r) { return CutRing(i, r, bytes); });
}

// all-reduce-decomposer: an all-reduce of one array in groups of equal size becomes an all-gather
// along a new dimension and a reduce over it, which every device does for itself. Option
// `max-bytes`: larger arrays stay (1 MiB): all devices hold all. Reassociates.
std::unique_ptr<Pass> CreateAllReduceDecomposer(PassArguments& arguments) {
  const int64_t bytes = arguments.Int("max-bytes", 1 << 20, "larger arrays stay");
  return MakeExpander("all-reduce-decomposer", [bytes](Instruction* i, Rewriter& r) {
    return GatherAndReduce(i, r, bytes);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
