// spmd-partitioning: partitions a module with shardings into the program of one device (SPMD).
// Cuts every array as its sharding says, whole where it has none, and writes the program as XLA's
// SpmdPartitioner does (spmd_visitor.h): shards come from one cut to another by slices,
// all-gathers, all-to-alls and permutes (sharder.h), windows take their neighbours' rows (halo.cc,
// windowed_shards.cc), dots and convolutions are grouped by batch, free and contracting dimensions
// (spmd_products.cc), gathers and scatters by what the operand or the indices are cut along
// (spmd_indexed.cc); reduces sum up; all else is computed whole on every device. The entry's
// parameters and results become parts. A module whose entry is named ..._spmd, as those are that
// the pass has made, only loses its shardings, but for those of parameters. Infeeds and outfeeds
// carry each device's part. Rows that an uneven cut leaves behind an array may hold anything.
// A module that has what the visitor does not know - regions that are manual on some axes only,
// other subgroups - is partitioned by the older Partitioner below, which cuts along dimensions that
// instructions leave alone and knows those regions: what the other axes cut is partitioned within
// the groups of devices that share it, but for their own collectives, which take whole arrays.
// Errors: Unimplemented for nested tuples, dynamic dimensions and other instructions with side
// effects. Exact but for the order of sums.
//   f32[8,4] dot f32[4,6], contracted dimension cut in two:
//     dot of f32[8,2] and f32[2,6], then all-reduce
#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/rewriter.h"
#include "passes/spmd/resharding.h"
#include "passes/spmd/spmd_visitor.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxPartitions = 4096;  // every array's cut names each of them

using Parts = std::vector<Part>;  // one, or those of a flat tuple

absl::string_view TargetOf(const Instruction& i) {
  if (i.opcode() != Opcode::kCustomCall) return "";
  return i.attr<CustomCallAttrs>().target;
}

// What all computations of a module share.
struct Context {
  using Groups = std::vector<int64_t>;

  int64_t devices;
  int64_t next_channel = 1;
  int64_t depth = 0;        // of calls that are being written
  std::set<Groups> groups;  // of regions that are manual on some axes; addresses are stable

  // The groups of a sharding with a manual subgroup; null for others.
  const Groups* GroupsOf(const Sharding* sharding) {
    if (sharding == nullptr || sharding->kind != Sharding::Kind::kTiled) return nullptr;
    Groups found = ManualGroupsOf(*sharding, devices);
    return found.empty() ? nullptr : &*groups.insert(std::move(found)).first;
  }
};

class Partitioner {
 public:
  // `groups`: of the region that calls the computation.
  Partitioner(const Computation& from, Computation& to, Context& context,
              const Context::Groups* groups = nullptr)
      : from_(from),
        to_(to),
        context_(context),
        outer_groups_(groups),
        rewriter_(to),
        w_(rewriter_),
        resharder_(w_, to.module()->header().replica_count, context.devices, context.next_channel) {
  }

  // Writes the whole computation; `parameters` are the parts that its parameters hold. Gives the
  // parts of the root.
  absl::StatusOr<Parts> Run(absl::Span<const Parts> parameters) {
    done_.resize(from_.module()->id_bound());
    for (Instruction* i : from_.PostOrder()) {
      rewriter_.set_subject(i);
      if (i->IsParameter()) {
        done_[i->id()] = Parameter(*i, parameters[i->parameter_number()]);
        continue;
      }
      ASSIGN_OR_RETURN(done_[i->id()], Visit(*i));
    }
    return done_[from_.root()->id()];
  }

  Resharder& resharder() { return resharder_; }
  HloWriter& writer() { return w_; }

 private:
  Parts Parameter(const Instruction& i, Parts parts) {
    if (!i.shape().IsTuple()) {
      parts[0].value = to_.AddParameter(i.parameter_number(), Local(parts[0]), i.name());
      parts[0].value->CopyExtrasFrom(i);
      return parts;
    }
    std::vector<Shape> shapes;
    for (const Part& part : parts) shapes.push_back(Local(part));
    Instruction* tuple =
        to_.AddParameter(i.parameter_number(), Shape::Tuple(std::move(shapes)), i.name());
    tuple->CopyExtrasFrom(i);
    for (size_t k = 0; k < parts.size(); ++k) parts[k].value = w_.Part(tuple, k);
    return parts;
  }

  static Shape Local(const Part& part) {
    return part.manual ? part.whole : ShardShape(part.whole, part.tiling);
  }

  Part WholePart(Instruction* value) {
    return {value, value->shape(), WholeOn(value->shape(), context_.devices), false, groups_};
  }
  // What an asynchronous operation has in flight is one part, which its done op alone takes.
  Parts WholeParts(Instruction* value) {
    const bool in_flight =
        HasTrait(value->opcode(), kAsyncStart) || value->opcode() == Opcode::kAsyncUpdate;
    if (!value->shape().IsTuple() || in_flight) return {WholePart(value)};
    Parts parts;
    for (size_t k = 0; k < value->shape().elements.size(); ++k)
      parts.push_back(WholePart(w_.Part(value, k)));
    return parts;
  }

  const Parts& Of(const Instruction* operand) const { return done_[operand->id()]; }

  bool IsManual(const Instruction& i) const {
    if (TargetOf(i) == "SPMDShardToFullShape") return false;
    if (i.sharding() != nullptr && i.sharding()->kind == Sharding::Kind::kManual) return true;
    for (const Instruction* operand : i.operands())
      for (const Part& part : Of(operand))
        if (part.manual) return true;
    return false;
  }

  // The groups within which the instruction is computed: those of its operands, its own, or those
  // of the computation.
  void EnterGroupsOf(const Instruction& i) {
    groups_ = nullptr;
    for (const Instruction* operand : i.operands())
      for (const Part& part : Of(operand))
        if (part.groups != nullptr) groups_ = part.groups;
    const bool marks =
        TargetOf(i) == "SPMDFullToShardShape" || TargetOf(i) == "SPMDShardToFullShape";
    if (groups_ == nullptr && !marks) groups_ = context_.GroupsOf(i.sharding());
    if (groups_ == nullptr && !marks) groups_ = outer_groups_;
    resharder_.set_groups(groups_);
  }

  absl::StatusOr<Parts> Visit(const Instruction& i) {
    if (i.shape().HasDynamicDims())
      return Unimplemented("spmd-partitioning: ", i.name(), " has dynamic dimensions");
    EnterGroupsOf(i);
    if (TargetOf(i) == "SPMDFullToShardShape") return Enter(i);
    if (TargetOf(i) == "SPMDShardToFullShape") return Leave(i);
    if (TargetOf(i) == "Sharding" && !IsManual(i) && i.shape().IsArray()) return Recut(i);
    switch (i.opcode()) {
      case Opcode::kTuple:
        return Tuple(i);
      case Opcode::kGetTupleElement:
        return Element(i);
      case Opcode::kWhile:
        return IsManual(i) ? Verbatim(i) : While(i);
      case Opcode::kCall:
        return IsManual(i) ? Verbatim(i) : Call(i);
      case Opcode::kInfeed:
        return IsManual(i) ? Verbatim(i) : Infeed(i);
      case Opcode::kOutfeed:
        return IsManual(i) ? Verbatim(i) : Outfeed(i);
      default:
        break;
    }
    if (IsManual(i)) return Verbatim(i);
    if (i.shape().IsTuple()) return OnWholes(i);
    if (i.opcode() == Opcode::kReduce) {
      if (auto part = ReduceParts(i)) return Parts{*part};
    }
    if (i.opcode() == Opcode::kDot) {
      if (auto part = ContractParts(i)) return Parts{*part};
    }
    const Tiling tiling = WantedTiling(i);
    if (tiling.IsTrivial()) return OnWholes(i);
    return OnParts(i, tiling);
  }

  absl::StatusOr<Parts> Tuple(const Instruction& i) {
    Parts parts;
    for (const Instruction* operand : i.operands()) {
      if (!operand->shape().IsArray() && !operand->shape().IsToken())
        return Unimplemented("spmd-partitioning: ", i.name(), " holds what is no array");
      parts.push_back(Of(operand)[0]);
    }
    return parts;
  }

  // Parts of a tuple within a tuple are taken out of it; those of a flat one are there.
  Parts Element(const Instruction& i) {
    const Part& part = Of(i.operand(0))[i.tuple_index()];
    if (!part.whole.IsTuple()) return {part};
    Parts parts = WholeParts(part.value);
    for (Part& inner : parts) inner.manual = part.manual && !inner.whole.IsToken();
    return parts;
  }

  Parts Enter(const Instruction& i) {
    Part part = Of(i.operand(0))[0];
    if (auto stated = OwnTiling(*i.operand(0), context_.devices))
      part = resharder_.To(std::move(part), *stated);
    return {OtherSide(i, std::move(part))};
  }

  // What each device holds, seen from the other side of a marker, whose sharding says what it is
  // there.
  Part OtherSide(const Instruction& i, Part part) {
    part.whole = i.shape();
    part.groups = context_.GroupsOf(i.sharding());
    part.manual = TargetOf(i) == "SPMDFullToShardShape" && part.groups == nullptr;
    part.tiling = WholeOn(i.shape(), context_.devices);
    if (!part.manual) part.tiling = OwnTiling(i, context_.devices).value_or(part.tiling);
    return part;
  }

  // A mark that only says how an array is to be cut.
  Parts Recut(const Instruction& i) {
    const Part& part = Of(i.operand(0))[0];
    return {resharder_.To(part, OwnTiling(i, context_.devices).value_or(part.tiling))};
  }

  Parts Leave(const Instruction& i) {
    Part part = Of(i.operand(0))[0];
    if (!part.manual) {
      const Tiling whole = WholeOn(part.whole, context_.devices);
      part = resharder_.To(std::move(part),
                           OwnTiling(*i.operand(0), context_.devices).value_or(whole));
    }
    return {OtherSide(i, std::move(part))};
  }

  // A tuple operand in one piece, arrays as they are.
  Instruction* Joined(const Parts& parts, const Shape& shape) {
    if (!shape.IsTuple() || (parts.size() == 1 && SameIgnoringLayout(parts[0].whole, shape)))
      return parts[0].value;
    std::vector<Instruction*> values;
    for (const Part& part : parts) values.push_back(part.value);
    return w_.Tuple(values);
  }

  Parts Verbatim(const Instruction& i) {
    std::vector<Instruction*> operands;
    for (const Instruction* operand : i.operands())
      operands.push_back(Joined(Of(operand), operand->shape()));
    Parts parts = WholeParts(rewriter_.Clone(&i, i.shape(), operands));
    for (Part& part : parts) part.manual = !part.whole.IsToken();  // which no side owns
    return parts;
  }

  absl::StatusOr<Parts> OnWholes(const Instruction& i) {
    if (i.HasSideEffect() && groups_ == nullptr)
      return Unimplemented("spmd-partitioning: ", i.name(), " has a side effect");
    std::vector<Instruction*> operands;
    for (const Instruction* operand : i.operands()) {
      Parts wholes;
      for (const Part& part : Of(operand)) wholes.push_back(resharder_.Whole(part));
      operands.push_back(Joined(wholes, operand->shape()));
    }
    return WholeParts(rewriter_.Clone(&i, i.shape(), operands));
  }

  // What an infeed's or outfeed's sharding says of leaf k; nothing where one device alone has it,
  // or where parts differ in size.
  std::optional<Tiling> FedTiling(const Instruction& i, const Shape& shape, size_t k) const {
    const Sharding* own = i.sharding();
    if (own != nullptr && own->kind == Sharding::Kind::kTuple)
      own = k < own->elements.size() ? &own->elements[k] : nullptr;
    if (own == nullptr) return WholeOn(shape, context_.devices);
    if (own->kind == Sharding::Kind::kMaximal && context_.devices != 1) return std::nullopt;
    const auto tiling = TilingOf(*own, shape, context_.devices);
    if (!tiling.ok() || !IsEven(*tiling, shape)) return std::nullopt;
    return *tiling;
  }

  // Each device is fed its part.
  absl::StatusOr<Parts> Infeed(const Instruction& i) {
    const Shape& data = i.shape().elements[0];
    const auto tiling = data.IsArray() ? FedTiling(i, data, 0) : std::nullopt;
    if (!tiling)
      return Unimplemented("spmd-partitioning: ", i.name(), " feeds devices unlike amounts");
    const Shape local = Shape::Tuple({ShardShape(data, *tiling), i.shape().elements[1]});
    Instruction* made = rewriter_.Clone(&i, local, {Of(i.operand(0))[0].value});
    return Parts{{w_.Part(made, 0), data, *tiling, /*manual=*/false, groups_},
                 WholePart(w_.Part(made, 1))};
  }

  // Each device sends its part; where the sharding names one device, that alone sends.
  absl::StatusOr<Parts> Outfeed(const Instruction& i) {
    const Shape& data = i.operand(0)->shape();
    const Sharding* own = i.sharding();
    if (data.IsArray() && own != nullptr && own->kind == Sharding::Kind::kMaximal)
      return Parts{WholePart(SentBy(w_, i, own->device, resharder_.Whole(Of(i.operand(0))[0]).value,
                                    Of(i.operand(1))[0].value))};
    const size_t leaves = data.IsTuple() ? data.elements.size() : 1;
    Parts parts = Of(i.operand(0));
    if (parts.size() != leaves)
      return Unimplemented("spmd-partitioning: ", i.name(), " sends a tuple within a tuple");
    std::vector<Shape> shapes;
    for (size_t k = 0; k < leaves; ++k) {
      const Shape& leaf = data.IsTuple() ? data.elements[k] : data;
      const auto tiling = leaf.IsArray() ? FedTiling(i, leaf, k) : std::nullopt;
      if (!tiling)
        return Unimplemented("spmd-partitioning: ", i.name(), " sends unlike amounts by device");
      parts[k] = resharder_.To(std::move(parts[k]), *tiling);
      shapes.push_back(ShardShape(leaf, *tiling));
    }
    Shape local = data.IsTuple() ? Shape::Tuple(std::move(shapes)) : shapes[0];
    Instruction* made =
        rewriter_.Clone(&i, i.shape(), {Joined(parts, local), Of(i.operand(1))[0].value});
    made->mutable_attr<OutfeedAttrs>().outfeed_shape = std::move(local);
    return Parts{WholePart(made)};
  }

  // The stated cut, else what follows from the operands, along dimensions that can be cut.
  Tiling WantedTiling(const Instruction& i) const {
    std::optional<Tiling> wanted = OwnTiling(i, context_.devices);
    for (int64_t k = 0; k < i.operand_count() && !wanted; ++k) {
      const DimVector map = DimensionMap(i, k);
      if (map.empty() || Of(i.operand(k)).size() != 1) continue;
      Tiling moved = Moved(Of(i.operand(k))[0].tiling, map, i.shape().rank());
      if (!moved.IsTrivial()) wanted = std::move(moved);
    }
    const Tiling whole = WholeOn(i.shape(), context_.devices);
    if (!wanted) return whole;
    std::vector<bool> kept;
    for (int64_t d = 0; d < i.shape().rank(); ++d)
      kept.push_back(wanted->tiles[d] != 1 && i.shape().dims[d] % wanted->tiles[d] == 0 &&
                     CanCut(i, d));
    return Restricted(*wanted, kept);
  }

  // The cut of operand k that a cut of the result needs.
  Tiling Needed(const Instruction& i, int64_t k, const Tiling& result) const {
    const Shape& operand = i.operand(k)->shape();
    const DimVector map = DimensionMap(i, k);
    if (map.empty()) return WholeOn(operand, context_.devices);
    DimVector back(i.shape().rank(), -1);
    for (size_t d = 0; d < map.size(); ++d)
      if (map[d] >= 0) back[map[d]] = d;
    return Moved(result, back, operand.rank());
  }

  Parts OnParts(const Instruction& i, const Tiling& tiling) {
    std::vector<Instruction*> operands;
    std::vector<Tiling> needed;
    for (int64_t k = 0; k < i.operand_count(); ++k) {
      needed.push_back(Needed(i, k, tiling));
      operands.push_back(resharder_.To(Of(i.operand(k))[0], needed[k]).value);
    }
    Instruction* made = rewriter_.Clone(&i, ShardShape(i.shape(), tiling), operands);
    ShrinkAttributes(*made);
    return {{made, i.shape(), tiling, /*manual=*/false, groups_}};
  }

  // Attributes that repeat sizes of operands or results.
  static void ShrinkAttributes(Instruction& i) {
    const Shape& x = i.operand_count() > 0 ? i.operand(0)->shape() : i.shape();
    switch (i.opcode()) {
      case Opcode::kSlice: {
        SliceSpec& slice = i.mutable_attr<SliceAttrs>().slice;
        for (size_t d = 0; d < slice.size(); ++d)
          if (slice[d].start == 0 && slice[d].stride == 1 && slice[d].limit > x.dims[d])
            slice[d].limit = x.dims[d];
        break;
      }
      case Opcode::kDynamicSlice:
        i.mutable_attr<DynamicSliceAttrs>().dynamic_slice_sizes = i.shape().dims;
        break;
      case Opcode::kGather: {
        DimVector& sizes = i.mutable_attr<GatherAttrs>().slice_sizes;
        for (size_t d = 0; d < sizes.size(); ++d) sizes[d] = std::min(sizes[d], x.dims[d]);
        break;
      }
      default:
        break;
    }
  }

  // A reduce over dimensions that are cut: each device its own, then all together.
  std::optional<Part> ReduceParts(const Instruction& i) {
    const Part& x = Of(i.operand(0))[0];
    const auto opcode = ReducerOpcode(*i.to_apply());
    if (i.operand_count() != 2 || !opcode || !IsIdentity(i.operand(1), *opcode) ||
        !IsEven(x.tiling, x.whole))
      return std::nullopt;
    std::vector<bool> reduced(x.whole.rank(), false);
    bool cut = false;
    for (int64_t d : i.attr<DimensionsAttrs>().dimensions) {
      reduced[d] = x.tiling.tiles[d] != 1;
      cut |= reduced[d];
    }
    if (!cut) return std::nullopt;
    const Tiling tiling = Moved(x.tiling, DimensionMap(i, 0), i.shape().rank());
    Instruction* own = rewriter_.Clone(&i, ShardShape(i.shape(), tiling),
                                       {x.value, resharder_.Whole(Of(i.operand(1))[0]).value});
    return Part{resharder_.AllReduce(own, x.tiling, reduced, i.to_apply()), i.shape(), tiling,
                /*manual=*/false, groups_};
  }

  // A dot whose contracted dimension is cut in both operands alike.
  std::optional<Part> ContractParts(const Instruction& i) {
    const auto& attrs = i.attr<DotAttrs>();
    if (i.operand_count() != 2 || attrs.lhs_contracting_dims.size() != 1) return std::nullopt;
    const int64_t a = attrs.lhs_contracting_dims[0], b = attrs.rhs_contracting_dims[0];
    const Part& x = Of(i.operand(0))[0];
    const Part& y = Of(i.operand(1))[0];
    if (x.tiling.tiles[a] == 1 || !IsEven(x.tiling, x.whole)) return std::nullopt;
    // Only that dimension stays cut; what else is cut is made whole.
    std::vector<bool> only(x.whole.rank(), false);
    only[a] = true;
    const Tiling left = Restricted(x.tiling, only);
    DimVector to(x.whole.rank(), -1);
    to[a] = b;
    const Tiling right = Moved(left, to, y.whole.rank());
    Instruction* own = rewriter_.Clone(
        &i, i.shape(), {resharder_.To(x, left).value, resharder_.To(y, right).value});
    Computation* add = MakeReducer(*to_.module(), Opcode::kAdd, i.shape().type);
    return Part{resharder_.AllReduce(own, left, only, add), i.shape(),
                WholeOn(i.shape(), context_.devices), /*manual=*/false, groups_};
  }

  // The computation for the parts that this call gives it; its result's parts are the call's.
  absl::StatusOr<Parts> Call(const Instruction& i) {
    constexpr int64_t kDeepest = 500;
    if (context_.depth >= kDeepest)
      return Unimplemented("spmd-partitioning: ", i.name(), ": calls nested deeper than ",
                           kDeepest);
    Computation& callee = *i.to_apply();
    std::vector<Parts> parameters;
    std::vector<Instruction*> operands;
    for (const Instruction* operand : i.operands()) {
      Parts parts = Of(operand);
      for (Part& part : parts)
        if (!part.manual && !IsEven(part.tiling, part.whole)) part = resharder_.Whole(part);
      operands.push_back(Joined(parts, operand->shape()));
      parameters.push_back(std::move(parts));
    }
    Computation* made = to_.module()->AddComputation(absl::StrCat(callee.name(), "_spmd"));
    Partitioner inner(callee, *made, context_, groups_);
    ++context_.depth;
    ASSIGN_OR_RETURN(Parts root, inner.Run(parameters));
    --context_.depth;
    made->set_root(inner.Joined(root, callee.root()->shape()));
    RemoveDead(*made);
    Instruction* call = rewriter_.Add(Opcode::kCall, made->root()->shape(), operands);
    call->CopyExtrasFrom(i);
    call->set_called({made});
    for (size_t k = 0; k < root.size(); ++k)
      root[k].value = i.shape().IsTuple() ? w_.Part(call, k) : call;
    return root;
  }

  absl::StatusOr<Parts> While(const Instruction& i) {
    Parts state = Of(i.operand(0));
    for (Part& part : state)
      if (!part.manual && !IsEven(part.tiling, part.whole)) part = resharder_.Whole(part);
    Instruction* start = Joined(state, i.shape());
    std::vector<Computation*> called;
    for (Computation* c : i.called()) {
      Computation* made = to_.module()->AddComputation(absl::StrCat(c->name(), "_spmd"));
      Partitioner inner(*c, *made, context_, groups_);
      ASSIGN_OR_RETURN(Parts root, inner.Run(absl::MakeConstSpan(&state, 1)));
      inner.resharder_.set_groups(groups_);
      RETURN_IF_ERROR(inner.SetRoot(root, called.empty() ? Parts() : state, c->root()->shape()));
      called.push_back(made);
    }
    Instruction* loop = rewriter_.Add(Opcode::kWhile, start->shape(), {start});
    loop->CopyExtrasFrom(i);
    loop->set_called(std::move(called));
    for (size_t k = 0; k < state.size(); ++k)
      state[k].value = i.shape().IsTuple() ? w_.Part(loop, k) : loop;
    return state;
  }

 public:
  // Ends the computation with the parts of its root, cut as those of `like` (whole where it is
  // empty).
  absl::Status SetRoot(Parts root, const Parts& like, const Shape& shape) {
    for (size_t k = 0; k < root.size(); ++k)
      root[k] = like.empty() ? resharder_.Whole(root[k])
                             : resharder_.To(std::move(root[k]), like[k].tiling);
    to_.set_root(Joined(root, shape));
    RemoveDead(to_);
    return absl::OkStatus();
  }

 private:
  const Computation& from_;
  Computation& to_;
  Context& context_;
  const Context::Groups* const outer_groups_;
  const Context::Groups* groups_ = nullptr;  // of what is being written
  Rewriter rewriter_;
  HloWriter w_;
  Resharder resharder_;
  std::vector<Parts> done_;
};

bool DropShardings(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions()) {
      if (i->sharding() == nullptr || (c->IsEntry() && i->IsParameter())) continue;
      i->mutable_extras().sharding.reset();
      changed = true;
    }
  return changed;
}

// The layouts of the entry's shapes, with local sizes.
Shape LocalLayout(const Shape& given, const Shape& local) {
  if (given.IsTuple()) {
    Shape shape = given;
    for (size_t k = 0; k < shape.elements.size(); ++k)
      shape.elements[k] = LocalLayout(given.elements[k], local.elements[k]);
    return shape;
  }
  Shape shape = given;
  shape.dims = local.dims;
  return shape;
}

// Makes `made` the module's entry.
void SetEntry(Module& module, Computation* made) {
  module.set_entry(made);
  if (auto& layout = module.header().entry_layout) {
    for (size_t k = 0; k < layout->parameters.size(); ++k)
      layout->parameters[k] = LocalLayout(layout->parameters[k], made->parameter(k)->shape());
    layout->result = LocalLayout(layout->result, made->root()->shape());
  }
}

absl::Status PartitionEntry(Module& module, int64_t devices) {
  const Computation& entry = *module.entry();
  Context context{devices, LargestChannel(module) + 1, 0, {}};
  std::vector<Parts> parameters;
  for (const Instruction* parameter : entry.parameters()) {
    if (parameter->shape().IsToken()) {
      parameters.push_back({{nullptr, parameter->shape(), WholeOn(parameter->shape(), devices)}});
      continue;
    }
    const Shape& shape = parameter->shape();
    ASSIGN_OR_RETURN(auto tilings, ParameterTilings(*parameter, devices));
    if (shape.IsArray()) {
      parameters.push_back({{nullptr, shape, std::move(tilings[0])}});
      continue;
    }
    Parts parts;
    for (size_t k = 0; k < shape.elements.size(); ++k) {
      if (!shape.elements[k].IsArray())
        return Unimplemented("spmd-partitioning: parameter ", parameter->name(),
                             " holds what is no array");
      parts.push_back({nullptr, shape.elements[k], std::move(tilings[k])});
    }
    parameters.push_back(std::move(parts));
  }
  ASSIGN_OR_RETURN(const auto results, ResultTilings(entry, devices));
  Computation* made = module.AddComputation(absl::StrCat(entry.name(), "_spmd"));
  Partitioner partitioner(entry, *made, context);
  ASSIGN_OR_RETURN(Parts root, partitioner.Run(parameters));
  partitioner.resharder().set_groups(nullptr);
  Parts like(root.size());
  size_t next = 0;
  for (size_t k = 0; k < root.size(); ++k) {
    like[k].tiling = WholeOn(root[k].whole, devices);
    if (root[k].whole.IsTuple() || (root[k].whole.IsArray() && next == results.size()))
      return Unimplemented("spmd-partitioning: nested tuples in the result");
    if (root[k].whole.IsArray()) like[k].tiling = results[next++];
  }
  RETURN_IF_ERROR(partitioner.SetRoot(std::move(root), like, entry.root()->shape()));
  SetEntry(module, made);
  return absl::OkStatus();
}

absl::Status VisitEntry(Module& module, int64_t devices) {
  const Computation& entry = *module.entry();
  Computation* made = module.AddComputation(absl::StrCat(entry.name(), "_spmd"));
  SpmdContext context{devices, LargestChannel(module) + 1, 0};
  SpmdVisitor visitor(entry, *made, context);
  std::vector<std::vector<Cut>> parameters;
  for (const Instruction* parameter : entry.parameters()) {
    ASSIGN_OR_RETURN(auto cuts, visitor.CutsOf(*parameter));
    parameters.push_back(std::move(cuts));
  }
  ASSIGN_OR_RETURN(auto root, visitor.CutsOf(*entry.root()));
  RETURN_IF_ERROR(visitor.Run(parameters, std::move(root)));
  SetEntry(module, made);
  return absl::OkStatus();
}

absl::StatusOr<bool> Run(Module& module) {
  const int64_t devices = module.header().num_partitions;
  if (devices < 2) return false;
  if (devices > kMaxPartitions)
    return Unimplemented("spmd-partitioning: ", devices, " partitions, at most ", kMaxPartitions);
  if (absl::EndsWith(module.entry()->name(), "_spmd")) return DropShardings(module);
  if (const absl::Status status = VisitEntry(module, devices); !status.ok()) {
    if (!absl::IsUnimplemented(status)) return status;
    RemoveUncalled(module);
    RETURN_IF_ERROR(PartitionEntry(module, devices));
  }
  RemoveUncalled(module);
  DropShardings(module);
  return true;
}

}  // namespace

std::unique_ptr<Pass> CreateSpmdPartitioner() { return MakeModulePass("spmd-partitioning", Run); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
