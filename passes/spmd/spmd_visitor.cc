// The walk over a computation: which handler an instruction takes, regions, and what holds for any
// instruction (handlers: spmd_movement.cc, spmd_products.cc, spmd_reductions.cc, ...).
#include "passes/spmd/spmd_visitor.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "ops/collective/device_groups.h"
#include "passes/cleanup/cse.h"
#include "passes/cleanup/tuple_simplifier.h"
#include "passes/rewrite/dead_code.h"
#include "passes/spmd/manual_regions.h"
#include "support/status.h"

namespace hlokit {
namespace {

void AddLeaves(const Shape& shape, const Cut& cut, std::vector<Cut>& cuts) {
  cuts.insert(cuts.end(), NumLeaves(shape), cut);
}

absl::Status ReadCuts(const Sharding* sharding, const Shape& shape, int64_t partitions,
                      const DeviceGroups& region, size_t& next, std::vector<Cut>& cuts) {
  if (shape.IsTuple()) {
    for (const Shape& element : shape.elements)
      RETURN_IF_ERROR(ReadCuts(sharding, element, partitions, region, next, cuts));
    return absl::OkStatus();
  }
  const Sharding* own = sharding;
  if (sharding != nullptr && sharding->kind == Sharding::Kind::kTuple) {
    own = next < sharding->elements.size() ? &sharding->elements[next] : nullptr;
    if (own != nullptr && own->kind == Sharding::Kind::kTuple)
      return Unimplemented("a sharding of tuples within tuples");
    ++next;
  }
  if (own == nullptr || !shape.IsArray()) {
    cuts.push_back(own != nullptr && own->kind == Sharding::Kind::kMaximal
                       ? Cut::OnDevice(own->device)
                       : Cut());
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(Cut cut, CutOf(*own, shape, partitions, region));
  cuts.push_back(std::move(cut));
  return absl::OkStatus();
}

Shape LocalOf(const Shape& whole, absl::Span<const Cut> cuts, size_t& next) {
  if (!whole.IsTuple()) return ShardOf(whole, cuts[next++]);
  std::vector<Shape> elements;
  for (const Shape& element : whole.elements) elements.push_back(LocalOf(element, cuts, next));
  return Shape::Tuple(std::move(elements));
}

// Zeros of every array; of a token, one that waits for nothing.
Instruction* ZerosOf(HloWriter& w, const Shape& shape) {
  if (shape.IsToken()) return w.rewriter().Add(Opcode::kAfterAll, shape, {});
  if (!shape.IsTuple()) return w.FillInteger(shape, 0);
  std::vector<Instruction*> elements;
  for (const Shape& element : shape.elements) elements.push_back(ZerosOf(w, element));
  return w.Tuple(elements);
}

}  // namespace

Shape PartitionedShape(const Shape& whole, absl::Span<const Cut> cuts) {
  size_t next = 0;
  return LocalOf(whole, cuts, next);
}

SpmdVisitor::SpmdVisitor(const Computation& from, Computation& to, SpmdContext& context,
                         DeviceGroups region)
    : from_(from),
      to_(to),
      context_(context),
      r_(to),
      w_(r_),
      writer_(*to.module(), w_, context.partitions, context.next_channel),
      sharder_(writer_),
      outer_(ScopeOf(region)),
      scope_(outer_) {}

absl::StatusOr<std::vector<Cut>> SpmdVisitor::CutsOf(const Instruction& i,
                                                     const DeviceGroups& region) const {
  std::vector<Cut> cuts;
  size_t next = 0;
  RETURN_IF_ERROR(ReadCuts(i.sharding(), i.shape(), context_.partitions, region, next, cuts));
  return cuts;
}

// A caller says in which region its computation runs; the entry's own parameters and results say it
// themselves.
DeviceScope* SpmdVisitor::ScopeOfOwn(const Instruction& i) {
  if (!from_.IsEntry()) return outer_;
  return ScopeOf(RegionGroups(i.sharding(), context_.partitions));
}

// A value as the devices of another scope see it: whole, where it is cut.
Shard SpmdVisitor::InScope(const Shard& shard, DeviceScope* scope) {
  if (shard.scope == scope) return shard;
  std::vector<Cut> wholes;
  for (const Cut& cut : shard.cuts) wholes.push_back(cut.IsManual() ? cut : Cut());
  Shard whole = sharder_.To(shard, wholes);
  whole.scope = scope;
  return whole;
}

namespace {

// Whether it gives the sum of its results where its operands are partial sums.
bool IsLinear(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kAdd:
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kCopy:
    case Opcode::kGetTupleElement:
    case Opcode::kNegate:
    case Opcode::kOptimizationBarrier:
    case Opcode::kSubtract:
    case Opcode::kTuple:
    case Opcode::kWhile:
      return true;
    default:
      return TargetOf(i) == "LayoutConstraint" || TargetOf(i) == "Sharding";
  }
}

bool HasSums(absl::Span<const Cut> cuts) {
  return absl::c_any_of(cuts, [](const Cut& cut) { return !cut.sums.empty(); });
}

std::vector<Cut> Summed(std::vector<Cut> cuts) {
  for (Cut& cut : cuts) cut.sums.clear();
  return cuts;
}

}  // namespace

absl::Status SpmdVisitor::Enter(const Instruction& i) {
  lifted_.clear();
  unreduced_.clear();
  DeviceGroups region = RegionGroups(i.sharding(), context_.partitions);
  const bool marks = TargetOf(i) == "SPMDFullToShardShape" || TargetOf(i) == "SPMDShardToFullShape";
  if (marks) {
    scope_ = region.empty() ? writer_.all() : ScopeOf(region);
    if (i.sharding() == nullptr) scope_ = outer_;
    ASSIGN_OR_RETURN(cuts_, CutsOf(i, RegionOf(scope_)));
    return absl::OkStatus();
  }
  for (const Instruction* operand : i.operands())
    if (region.empty()) region = RegionOf(done_[operand->id()].scope);
  if (region.empty()) region = RegionOf(outer_);
  scope_ = ScopeOf(region);
  ASSIGN_OR_RETURN(cuts_, CutsOf(i, region));
  for (const Instruction* operand : i.operands())
    if (done_[operand->id()].scope != scope_)
      lifted_[operand->id()] = InScope(done_[operand->id()], scope_);
  if (IsLinear(i)) return absl::OkStatus();
  for (const Instruction* operand : i.operands())
    if (const Shard& given = Of(operand); HasSums(given.cuts))
      lifted_[operand->id()] = sharder_.To(given, Summed(given.cuts));
  unreduced_ = HasSums(cuts_) ? cuts_ : std::vector<Cut>();
  cuts_ = Summed(std::move(cuts_));
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Run(const std::vector<std::vector<Cut>>& parameters,
                              std::vector<Cut> root) {
  done_.resize(from_.module()->id_bound());
  for (Instruction* i : from_.PostOrder()) {
    r_.set_subject(i);
    if (i->shape().HasDynamicDims())
      return Unimplemented("spmd-partitioning: ", i->name(), " has dynamic dimensions");
    if (i->IsParameter()) {
      cuts_ = parameters[i->parameter_number()];
      scope_ = ScopeOfOwn(*i);
      Instruction* made = to_.AddParameter(i->parameter_number(), LocalShape(*i), i->name());
      made->CopyExtrasFrom(*i);
      Set(*i, made);
      continue;
    }
    RETURN_IF_ERROR(Enter(*i));
    RETURN_IF_ERROR(Visit(*i));
    if (!unreduced_.empty()) done_[i->id()] = sharder_.To(done_[i->id()], unreduced_);
  }
  lifted_.clear();
  r_.set_subject(nullptr);
  const Shard result = InScope(Of(from_.root()), ScopeOfOwn(*from_.root()));
  to_.set_root(sharder_.To(result, root.empty() ? result.cuts : root).value);
  CleanUp();
  return absl::OkStatus();
}

void SpmdVisitor::CleanUp() {
  RemoveDead(to_);
  SimplifyTuples(to_);
  RemoveDead(to_);
  MergeEqual(to_);
  RemoveDead(to_);
}

bool SpmdVisitor::IsManual(const Instruction& i) const {
  if (absl::c_any_of(cuts_, [](const Cut& cut) { return cut.IsManual(); })) return true;
  for (const Instruction* operand : i.operands())
    if (absl::c_any_of(Of(operand).cuts, [](const Cut& cut) { return cut.IsManual(); }))
      return true;
  return false;
}

SpmdVisitor::Handler SpmdVisitor::HandlerOfTarget(const Instruction& i) {
  if (TargetOf(i) == "Sharding") return &SpmdVisitor::Recut;
  if (TargetOf(i) == "TopK") return &SpmdVisitor::TopK;
  if (TargetOf(i) == "_SPMDInternalOp_RotateRight") return &SpmdVisitor::RotateRight;
  if (TargetOf(i) == "_SPMDInternalOp_MultiRotate") return &SpmdVisitor::RotateSeveral;
  if (TargetOf(i) == "_SPMDInternalOp_MultiSlice") return &SpmdVisitor::SliceSeveral;
  for (const absl::string_view target : {"LayoutConstraint", "MoveToHost", "MoveToDevice"})
    if (TargetOf(i) == target) return &SpmdVisitor::ElementwiseCall;
  return nullptr;
}

SpmdVisitor::Handler SpmdVisitor::HandlerOf(const Instruction& i) const {
  switch (i.opcode()) {
    case Opcode::kTuple:
      return &SpmdVisitor::Tuple;
    case Opcode::kGetTupleElement:
      return &SpmdVisitor::Element;
    case Opcode::kConstant:
      return &SpmdVisitor::Constant;
    case Opcode::kIota:
      return &SpmdVisitor::Iota;
    case Opcode::kBroadcast:
      return &SpmdVisitor::Broadcast;
    case Opcode::kTranspose:
      return &SpmdVisitor::Transpose;
    case Opcode::kReshape:
      return &SpmdVisitor::Reshape;
    case Opcode::kSlice:
      return &SpmdVisitor::Slice;
    case Opcode::kPad:
      return &SpmdVisitor::Pad;
    case Opcode::kConcatenate:
      return &SpmdVisitor::Concatenate;
    case Opcode::kDynamicSlice:
      return &SpmdVisitor::DynamicSlice;
    case Opcode::kDynamicUpdateSlice:
      return &SpmdVisitor::DynamicUpdateSlice;
    case Opcode::kReverse:
      return &SpmdVisitor::Reverse;
    case Opcode::kReduce:
      return &SpmdVisitor::Reduce;
    case Opcode::kReduceWindow:
      return &SpmdVisitor::ReduceWindow;
    case Opcode::kSelectAndScatter:
      return &SpmdVisitor::SelectAndScatter;
    case Opcode::kSort:
      return &SpmdVisitor::Sort;
    case Opcode::kCholesky:
    case Opcode::kFft:
    case Opcode::kTriangularSolve:
      return &SpmdVisitor::Batched;
    case Opcode::kScan:
      return &SpmdVisitor::Scan;
    case Opcode::kTopK:
      return &SpmdVisitor::TopK;
    case Opcode::kDot:
      return &SpmdVisitor::Dot;
    case Opcode::kRaggedDot:
      return &SpmdVisitor::RaggedDot;
    case Opcode::kGather:
    case Opcode::kScatter:
      return &SpmdVisitor::Indexed;
    case Opcode::kConvolution:
      return &SpmdVisitor::Convolution;
    case Opcode::kWhile:
      return &SpmdVisitor::While;
    case Opcode::kConditional:
      return &SpmdVisitor::Conditional;
    case Opcode::kCall:
      return &SpmdVisitor::Call;
    case Opcode::kRng:
      return &SpmdVisitor::Rng;
    case Opcode::kInfeed:
      return &SpmdVisitor::Infeed;
    case Opcode::kOutfeed:
      return &SpmdVisitor::Outfeed;
    case Opcode::kOptimizationBarrier:
      return &SpmdVisitor::Barrier;
    case Opcode::kBitcastConvert:
      return &SpmdVisitor::BitcastConvert;
    default:
      break;
  }
  if (const Handler handler = HandlerOfTarget(i); handler != nullptr) return handler;
  if (HasTrait(i.opcode(), kElementwise) && i.operand_count() > 0) return &SpmdVisitor::Elementwise;
  if (i.opcode() == Opcode::kCustomCall && AllOnOneDevice(cuts_)) return &SpmdVisitor::OnOneDevice;
  return &SpmdVisitor::Default;
}

namespace {

// Whether it has a meaning only where each device is by itself. What is in flight of another
// computation goes on as it started.
bool Communicates(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kPartitionId:
      return true;
    case Opcode::kAsyncStart:
      return absl::c_any_of(i.called(0)->Instructions(),
                            [](const Instruction* inner) { return Communicates(*inner); });
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
    case Opcode::kCopyStart:
    case Opcode::kCopyDone:
      return false;
    default:
      return HasTrait(i.opcode(), kCollective) || HasTrait(i.opcode(), kAsyncStart) ||
             HasTrait(i.opcode(), kAsyncDone);
  }
}

}  // namespace

// Whether the members of each participant's group that take part are the same: then each may give
// its part of an array instead of all of it.
bool SpmdVisitor::IsAlikeInRegion(const Instruction& collective) const {
  std::vector<int64_t> place(context_.partitions);
  for (const Devices& group : scope_->groups)
    for (size_t k = 0; k < group.size(); ++k) place[group[k]] = static_cast<int64_t>(k);
  if (collective.opcode() == Opcode::kCollectivePermute)
    return absl::c_all_of(collective.attr<CollectivePermuteAttrs>().source_target_pairs,
                          [&](const auto& pair) {
                            return place[pair.first % context_.partitions] ==
                                   place[pair.second % context_.partitions];
                          });
  const auto groups =
      DeviceGroupsOf(collective, to_.module()->header().replica_count, context_.partitions);
  if (!groups.ok()) return false;
  for (const std::vector<int64_t>& group : *groups)
    for (const int64_t device : group)
      if (place[device % context_.partitions] != place[group[0] % context_.partitions])
        return false;
  return true;
}

// Whether computations that it calls cut arrays.
bool SpmdVisitor::CallsTiled(const Instruction& i) const {
  for (const Computation* called : i.called())
    for (const Instruction* inner : called->Instructions())
      if (inner->sharding() != nullptr && inner->sharding()->kind == Sharding::Kind::kTiled)
        return true;
  return false;
}

absl::Status SpmdVisitor::Visit(const Instruction& i) {
  if (TargetOf(i) == "SPMDFullToShardShape") return FullToShard(i);
  if (TargetOf(i) == "SPMDShardToFullShape") return ShardToFull(i);
  const Handler handler = HandlerOf(i);
  const bool calls = handler == &SpmdVisitor::While || handler == &SpmdVisitor::Call ||
                     handler == &SpmdVisitor::Conditional;
  const bool packs = handler == &SpmdVisitor::Tuple || handler == &SpmdVisitor::Element;
  if (IsManual(i) && !packs && !(calls && CallsTiled(i))) return Verbatim(i);
  const bool in_region = scope_->parent != nullptr;
  const bool is_elementwise =
      i.opcode() == Opcode::kAllReduce || i.opcode() == Opcode::kCollectivePermute;
  if (in_region && is_elementwise && i.operand_count() == 1 && IsAlikeInRegion(i))
    return Elementwise(i);
  if (i.opcode() == Opcode::kAllReduce && i.operand_count() == 1 &&
      !i.attr<AllReduceAttrs>().channel_id)  // among replicas
    return Elementwise(i);
  if (!Communicates(i)) return (this->*handler)(i);
  // Of whole arrays, which all partitions have.
  if (in_region || i.opcode() == Opcode::kAllReduce) return Default(i);
  return Unimplemented("spmd-partitioning: ", i.name(), " communicates outside a manual region");
}

// Its operands agree in the leading dimensions, and each place along these is computed by itself.
absl::Status SpmdVisitor::Batched(const Instruction& i) {
  const Cut& cut = CutOfResult();
  if (!cut.IsTiled()) return Default(i);
  const int64_t rank = i.shape().rank();
  const int64_t inner =
      i.opcode() == Opcode::kFft ? static_cast<int64_t>(i.attr<FftAttrs>().fft_length.size()) : 2;
  DimVector whole;
  for (int64_t d = rank - inner; d < rank; ++d) whole.push_back(d);
  const Cut batch = MadeWhole(cut, whole);
  if (!batch.IsTiled()) return Default(i);
  std::vector<Instruction*> operands;
  for (const Instruction* operand : i.operands()) {
    if (operand->shape().rank() != rank) return Default(i);
    operands.push_back(sharder_.To(Of(operand), batch).value);
  }
  Set(i, Array(Clone(i, ShardOf(i.shape(), batch), operands), i.shape(), batch));
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Default(const Instruction& i) {
  // Of whole arrays, on every device; all devices step their own states alike.
  const bool on_all =
      TargetOf(i) == "xla.debug.Log" || i.opcode() == Opcode::kRngGetAndUpdateState;
  if (i.HasSideEffect() && !on_all && !AllOnOneDevice(cuts_) && scope_->parent == nullptr)
    return Unimplemented("spmd-partitioning: ", i.name(), " has a side effect");
  const Cut base = AllOnOneDevice(cuts_) ? cuts_[0] : Cut();
  std::vector<Instruction*> operands;
  for (const Instruction* operand : i.operands())
    operands.push_back(sharder_.To(Of(operand), base).value);
  std::vector<Cut> cuts;
  AddLeaves(i.shape(), base, cuts);
  Set(i, Shard{Clone(i, i.shape(), operands), i.shape(), std::move(cuts), scope_});
  return absl::OkStatus();
}

// In a manual region each partition has what it has.
absl::Status SpmdVisitor::Verbatim(const Instruction& i) {
  std::vector<Instruction*> operands;
  for (const Instruction* operand : i.operands()) {
    const Shard& given = Of(operand);
    std::vector<Cut> as_is;
    for (const Cut& cut : given.cuts) as_is.push_back(cut.IsTiled() ? Cut() : cut);
    operands.push_back(sharder_.To(given, as_is).value);
  }
  size_t leaf = 0;
  for (const ShapeLeaf& part : Leaves(i.shape())) {
    Cut& cut = cuts_[leaf++];
    if (!cut.IsManual()) cut = part.shape->IsToken() ? Cut() : Cut::Manual();
  }
  Set(i, Clone(i, i.shape(), operands));
  return absl::OkStatus();
}

// On one device alone: a conditional, which is zeros on the others.
absl::Status SpmdVisitor::OnOneDevice(const Instruction& i) {
  const int64_t device = cuts_[0].device;
  std::vector<Instruction*> operands;
  std::vector<Shape> shapes;
  for (const Instruction* operand : i.operands()) {
    operands.push_back(sharder_.To(Of(operand), Cut::OnDevice(device)).value);
    shapes.push_back(operand->shape());
  }
  Instruction* given = r_.Add(Opcode::kTuple, Shape::Tuple(shapes), operands);
  Instruction* is_there = w_.Compare(
      writer_.PartitionId(scope_), w_.Integer(ElementType::kU32, device), ComparisonDirection::kEq);
  std::vector<Computation*> branches;
  for (const bool runs : {true, false}) {
    Computation* branch =
        to_.module()->AddComputation(runs ? "true_computation" : "false_computation");
    Instruction* parameter =
        branch->AddParameter(0, given->shape(), runs ? "true_branch_param" : "false_branch_param");
    Rewriter r(*branch);
    HloWriter w(r);
    if (runs) {
      std::vector<Instruction*> parts;
      for (size_t k = 0; k < operands.size(); ++k)
        parts.push_back(w.Part(parameter, static_cast<int64_t>(k)));
      Instruction* root = branch->Add(i.CloneWith(i.shape(), parts), i.name());
      if (root->HasExtras()) root->mutable_extras().sharding.reset();
      branch->set_root(root);
    } else {
      branch->set_root(ZerosOf(w, i.shape()));
    }
    branches.push_back(branch);
  }
  Instruction* made = r_.Add(Opcode::kConditional, i.shape(), {is_there, given, given});
  made->set_called(std::move(branches));
  Set(i, made);
  return absl::OkStatus();
}

absl::Status SpmdVisitor::FullToShard(const Instruction& i) {
  const Shard& operand = Of(i.operand(0));
  if (!i.shape().IsArray())
    return Unimplemented("spmd-partitioning: ", i.name(), " is not of an array");
  if (!cuts_[0].IsManual()) return EnterRegion(i);
  Instruction* x = operand.value;
  if (!IsEven(operand.cut(), operand.whole))
    x = sharder_.PadWith(operand, writer_.Zero(x->shape().type));
  if (x->shape().dims != i.shape().dims)
    return Unimplemented("spmd-partitioning: ", i.name(), " is of another shape than its shard");
  Set(i, r_.Add(Opcode::kCopy, x->shape(), {x}));
  return absl::OkStatus();
}

absl::Status SpmdVisitor::ShardToFull(const Instruction& i) {
  const Shard& operand = Of(i.operand(0));
  if (operand.IsArray() && !operand.cut().IsManual()) return LeaveRegion(i);
  if (!operand.IsArray() || operand.value->shape().dims != LocalShape(i).dims)
    return Unimplemented("spmd-partitioning: ", i.name(), " is of another shape than its shards");
  Set(i, r_.Add(Opcode::kCopy, operand.value->shape(), {operand.value}));
  return absl::OkStatus();
}

namespace {

// How often the smaller array lies in the larger along each dimension; nothing where it does not.
std::optional<DimVector> RatioOf(const Shape& larger, const Shape& smaller) {
  if (larger.rank() != smaller.rank()) return std::nullopt;
  DimVector ratio;
  for (int64_t d = 0; d < larger.rank(); ++d) {
    if (smaller.dims[d] == 0 || larger.dims[d] % smaller.dims[d] != 0) {
      if (larger.dims[d] != 0 || smaller.dims[d] != 0) return std::nullopt;
      ratio.push_back(1);
      continue;
    }
    ratio.push_back(larger.dims[d] / smaller.dims[d]);
  }
  return ratio;
}

}  // namespace

// The array on all devices, or in an outer region, becomes one array for each group of an inner
// region: the same values on the same devices.
absl::Status SpmdVisitor::EnterRegion(const Instruction& i) {
  const Shard& operand = Of(i.operand(0));
  const auto inner = Renumbered(scope_->groups, operand.scope->groups);
  const auto ratio = RatioOf(operand.whole, i.shape());
  if (operand.cut().HasOneDevice() || operand.cut().IsManual() || !inner || !ratio ||
      !IsEven(operand.cut(), operand.whole))
    return Unimplemented("spmd-partitioning: ", i.name(), " takes no part of its operand");
  const auto cut = WithinRegion(operand.cut(), *inner, *ratio);
  if (!cut)
    return Unimplemented("spmd-partitioning: ", i.name(),
                         ": groups of the region have other parts of its operand");
  Instruction* copy = r_.Add(Opcode::kCopy, operand.value->shape(), {operand.value});
  Set(i, Array(copy, i.shape(), *cut));
  return absl::OkStatus();
}

// One array for each group becomes one on all devices, or in an outer region.
absl::Status SpmdVisitor::LeaveRegion(const Instruction& i) {
  const Shard& operand = Of(i.operand(0));
  const auto inner = Renumbered(operand.scope->groups, scope_->groups);
  const auto ratio = RatioOf(i.shape(), operand.whole);
  if (cuts_[0].HasOneDevice() || !inner || !ratio || !IsEven(cuts_[0], i.shape()))
    return Unimplemented("spmd-partitioning: ", i.name(), " is not made of its operands");
  const auto cut = WithinRegion(cuts_[0], *inner, *ratio);
  if (!cut)
    return Unimplemented("spmd-partitioning: ", i.name(),
                         ": groups of the region have other parts of the result");
  const Shard parts = sharder_.To(operand, *cut);
  Set(i, r_.Add(Opcode::kCopy, parts.value->shape(), {parts.value}));
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Recut(const Instruction& i) {
  if (!SameIgnoringLayout(i.shape(), i.operand(0)->shape()))
    return InvalidArgument("a call of Sharding takes ", Text(i.operand(0)->shape()), " and gives ",
                           Text(i.shape()));
  Set(i, Of(i.operand(0)));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
