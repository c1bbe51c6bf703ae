// Instructions that combine elements, call computations or talk to the host, partitioned.
//   reduce f32[8,6] over {0}, cut along 0   ->   local reduce, all-reduce
//   along 1 alone                           ->   local reduce
// A variadic reduction, whose function is no all-reduce's, gathers the partial results and reduces
// them again. Random numbers are drawn by one partition for all that share them. Infeed and outfeed
// of uneven parts become a branch for each shape.
#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "passes/rewrite/matchers.h"
#include "passes/spmd/spmd_visitor.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool AllSame(absl::Span<const Cut> cuts) {
  return absl::c_all_of(cuts, [&](const Cut& cut) { return cut == cuts[0]; });
}

Shape WithoutDimsOf(const Shape& shape, absl::Span<const int64_t> dims) {
  DimVector kept;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (!absl::c_linear_search(dims, d)) kept.push_back(shape.dims[d]);
  return RowMajor(shape.type, kept);
}

}  // namespace

absl::Status SpmdVisitor::Reduce(const Instruction& i) {
  if (AllOnOneDevice(cuts_)) return Default(i);
  const DimVector& dims = i.attr<DimensionsAttrs>().dimensions;
  const int64_t count = i.operand_count() / 2;
  DimVector kept;
  for (int64_t d = 0; d < i.operand(0)->shape().rank(); ++d)
    if (!absl::c_linear_search(dims, d)) kept.push_back(d);
  std::vector<Shard> inputs;
  std::vector<Instruction*> operands, inits;
  std::vector<Shape> shapes;
  Shard first = Of(i.operand(0));
  if (first.cut().HasOneDevice()) first = sharder_.Replicated(first);
  bool together = false;  // whether partitions hold parts of one result
  for (const int64_t d : dims) together |= first.cut().Dim(d) > 1;
  for (int64_t k = 0; k < count; ++k) {
    inits.push_back(WholeOf(i.operand(count + k)));
    Shard input = k == 0 ? first : sharder_.To(Of(i.operand(k)), first.cut());
    input.value = sharder_.PadWith(input, inits[k], {}, kept);
    operands.push_back(input.value);
    shapes.push_back(WithoutDimsOf(input.value->shape(), dims));
    inputs.push_back(std::move(input));
  }
  // Each partition's result would hold the initial value once.
  if (together) {
    const auto opcode = count == 1 ? ReducerOpcode(*i.to_apply()) : std::nullopt;
    if (opcode && !IsIdentity(i.operand(1), *opcode)) return Default(i);
  }
  operands.insert(operands.end(), inits.begin(), inits.end());
  const bool is_tuple = i.shape().IsTuple();
  Instruction* local = Clone(i, is_tuple ? Shape::Tuple(shapes) : shapes[0], operands);
  const Cut result = WithoutDims(MadeWhole(first.cut(), dims), dims);
  if (together) {
    if (is_tuple) {
      local = ReduceTogether(i, first, local);
    } else {
      local = writer_.AllReduceAlong(local, first.cut(), dims, i.to_apply(), scope_);
    }
  }
  Set(i, Shard{local, i.shape(), std::vector<Cut>(count, result), scope_});
  return absl::OkStatus();
}

// The results of all partitions are gathered and reduced again.
Instruction* SpmdVisitor::ReduceTogether(const Instruction& i, const Shard& first,
                                         Instruction* local) {
  const DimVector& dims = i.attr<DimensionsAttrs>().dimensions;
  const int64_t count = i.operand_count() / 2;
  DimVector kept;
  for (size_t d = 0; d < first.cut().tiles.size(); ++d)
    if (!absl::c_linear_search(dims, static_cast<int64_t>(d)))
      kept.push_back(static_cast<int64_t>(d));
  const Grouped grouped = GroupBy(first.cut(), kept);
  DeviceScope* scope = writer_.Within(scope_, grouped.groups);
  std::vector<Instruction*> operands;
  for (int64_t k = 0; k < count; ++k) {
    Shape one = first.value->shape();
    one.type = local->shape().elements[k].type;
    Shape all = one;
    for (const int64_t d : dims) {
      one.dims[d] = 1;
      all.dims[d] = first.cut().tiles[d];
    }
    Instruction* part = r_.Reshape(w_.Part(local, k), one.WithDefaultLayout());
    operands.push_back(
        sharder_.Whole(sharder_.Array(part, all.WithDefaultLayout(), grouped.cut, scope)));
  }
  for (int64_t k = 0; k < count; ++k) operands.push_back(local->operand(count + k));
  return Clone(i, local->shape(), operands);
}

absl::Status SpmdVisitor::ReduceWindow(const Instruction& i) {
  const Cut cut = CutOfResult();
  if (!cut.IsTiled() || !AllSame(cuts_)) return Default(i);
  const int64_t count = i.operand_count() / 2;
  std::vector<Instruction*> operands, inits;
  std::optional<WindowedShard> windowed;
  for (int64_t k = 0; k < count; ++k) {
    inits.push_back(WholeOf(i.operand(count + k)));
    windowed = sharder_.AsWindowed(Of(i.operand(k)), i.attr<WindowAttrs>().window, cut, inits[k]);
    if (!windowed) return Default(i);
    operands.push_back(windowed->value);
  }
  const Window& window = windowed->window;
  Shape local = operands[0]->shape();
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDim& w = window[d];
    const int64_t reach = 1 + (w.size - 1) * w.window_dilation;
    const int64_t full = 1 + (local.dims[d] - 1) * w.base_dilation + w.pad_low + w.pad_high;
    if (full < reach) return Default(i);
    local.dims[d] = (full - reach) / w.stride + 1;
  }
  std::vector<Shape> shapes;
  for (const Instruction* operand : operands)
    shapes.push_back(local.WithType(operand->shape().type));
  operands.insert(operands.end(), inits.begin(), inits.end());
  const bool is_tuple = i.shape().IsTuple();
  Instruction* made = Clone(i, is_tuple ? Shape::Tuple(shapes) : shapes[0], operands);
  made->mutable_attr<WindowAttrs>().window = window;
  const Shape wanted = ShardOf(is_tuple ? i.shape().elements[0] : i.shape(), cut);
  if (windowed->offset.empty()) {
    if (local.dims != wanted.dims) return Default(i);
    Set(i, made);
    return absl::OkStatus();
  }
  if (is_tuple) return Default(i);
  Set(i, w_.DynamicSlice(made, windowed->offset, wanted.dims));
  return absl::OkStatus();
}

absl::StatusOr<Computation*> SpmdVisitor::Partition(const Computation& callee,
                                                    const std::vector<std::vector<Cut>>& parameters,
                                                    std::vector<Cut> root) {
  constexpr int64_t kDeepest = 500;
  if (context_.depth >= kDeepest)
    return Unimplemented("spmd-partitioning: calls nested deeper than ", kDeepest);
  for (const SpmdContext::Made& made : context_.made)
    if (made.from == &callee && made.parameters == parameters && made.root == root &&
        made.region == RegionOf(scope_))
      return made.to;
  Computation* made = to_.module()->AddComputation(absl::StrCat(callee.name(), "_spmd"));
  const std::vector<Cut> asked = root;
  SpmdVisitor inner(callee, *made, context_, RegionOf(scope_));
  ++context_.depth;
  const absl::Status status = inner.Run(parameters, std::move(root));
  --context_.depth;
  RETURN_IF_ERROR(status);
  context_.made.push_back({&callee, parameters, asked, RegionOf(scope_), made});
  return made;
}

absl::Status SpmdVisitor::While(const Instruction& i) {
  const std::vector<Cut> cuts = cuts_;
  const Shard state = sharder_.To(Of(i.operand(0)), cuts);
  ASSIGN_OR_RETURN(Computation * condition, Partition(*i.called(0), {cuts}, {Cut()}));
  ASSIGN_OR_RETURN(Computation * body, Partition(*i.called(1), {cuts}, cuts));
  Instruction* loop = r_.Add(Opcode::kWhile, state.value->shape(), {state.value});
  loop->CopyExtrasFrom(i);
  loop->set_called({condition, body});
  Set(i, loop);
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Conditional(const Instruction& i) {
  const std::vector<Cut> cuts = cuts_;
  std::vector<Instruction*> operands = {WholeOf(i.operand(0))};
  std::vector<Computation*> branches;
  for (size_t k = 0; k < i.called().size(); ++k) {
    const Shard& argument = Of(i.operand(static_cast<int64_t>(k) + 1));
    ASSIGN_OR_RETURN(Computation * branch, Partition(*i.called(k), {argument.cuts}, cuts));
    operands.push_back(argument.value);
    branches.push_back(branch);
  }
  Instruction* made = r_.Add(Opcode::kConditional, LocalShape(i), operands);
  made->CopyExtrasFrom(i);
  made->set_called(std::move(branches));
  Set(i, made);
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Call(const Instruction& i) {
  const std::vector<Cut> cuts = cuts_;
  std::vector<std::vector<Cut>> parameters;
  std::vector<Instruction*> operands;
  for (const Instruction* operand : i.operands()) {
    parameters.push_back(Of(operand).cuts);
    operands.push_back(Of(operand).value);
  }
  ASSIGN_OR_RETURN(Computation * callee, Partition(*i.to_apply(), parameters, cuts));
  Instruction* made = r_.Add(Opcode::kCall, LocalShape(i), operands);
  made->CopyExtrasFrom(i);
  made->set_called({callee});
  Set(i, made);
  return absl::OkStatus();
}

// Random numbers would differ between partitions that share them.
absl::Status SpmdVisitor::Rng(const Instruction& i) {
  if (AllOnOneDevice(cuts_)) return OnOneDevice(i);
  const Cut cut = CutOfResult();
  const auto operands = [&](const Cut& base) {
    std::vector<Instruction*> given;
    for (const Instruction* operand : i.operands())
      given.push_back(sharder_.To(Of(operand), base).value);
    return given;
  };
  if (cut.IsReplicated()) {
    const Cut first = Cut::OnDevice(0);
    Set(i, Array(Clone(i, i.shape(), operands(first)), i.shape(), first));
    return absl::OkStatus();
  }
  Instruction* made = Clone(i, LocalShape(i), operands(Cut()));
  if (cut.has_copies) {
    DimVector dims(cut.rank());
    std::iota(dims.begin(), dims.end(), 0);
    DeviceScope* scope = writer_.Within(scope_, GroupBy(cut, dims).groups);
    made = sharder_.Whole(sharder_.Array(made, made->shape(), Cut::OnDevice(0), scope));
  }
  Set(i, made);
  return absl::OkStatus();
}

// What partitions do apart from each other: branch k of a conditional is what `write` makes, in a
// computation of its own, of a parameter of the operand's shape on the partitions of group k.
Instruction* SpmdVisitor::ByGroups(const std::vector<int64_t>& group_of, Instruction* operand,
                                   const Shape& result, const WriteBranch& write) {
  const int64_t groups = 1 + *absl::c_max_element(group_of);
  Instruction* which = nullptr;
  std::vector<int64_t> numbers(group_of.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  if (group_of == numbers)
    which = w_.Convert(writer_.PartitionId(scope_), ElementType::kS32);
  else
    which = writer_.Lookup(group_of, ElementType::kS32, writer_.PartitionId(scope_));
  std::vector<Instruction*> operands = {which};
  std::vector<Computation*> branches;
  for (int64_t k = 0; k < groups; ++k) {
    Computation* branch = to_.module()->AddComputation("branch");
    Instruction* parameter = branch->AddParameter(0, operand->shape(), "parameter");
    Rewriter r(*branch);
    HloWriter w(r);
    branch->set_root(write(k, parameter, w));
    branches.push_back(branch);
    operands.push_back(operand);
  }
  Instruction* made = r_.Add(Opcode::kConditional, result, operands);
  made->set_called(std::move(branches));
  return made;
}

namespace {

// The rows of each array that are not padding, on each partition.
Shape OwnRows(const Shape& whole, absl::Span<const Cut> cuts, size_t& next, int64_t device) {
  if (whole.IsTuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : whole.elements)
      elements.push_back(OwnRows(element, cuts, next, device));
    return Shape::Tuple(std::move(elements));
  }
  const Cut& cut = cuts[next++];
  if (!whole.IsArray() || !cut.IsTiled()) return whole;
  Shape own = ShardOf(whole, cut);
  cut.ForEach([&](const DimVector& place, int64_t holder) {
    if (holder != device) return;
    const Shape shard = ShardOf(whole, cut);
    for (int64_t d = 0; d < whole.rank(); ++d)
      own.dims[d] = std::clamp<int64_t>(whole.dims[d] - place[d] * shard.dims[d], 0, shard.dims[d]);
  });
  return own;
}

// The array, or each array of the tuple, padded behind, or cut there, to the shape.
Instruction* Resized(HloWriter& w, Instruction* x, const Shape& shape) {
  if (Compatible(x->shape(), shape)) return x;
  if (shape.IsTuple()) {
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < shape.elements.size(); ++k)
      parts.push_back(Resized(w, w.Part(x, static_cast<int64_t>(k)), shape.elements[k]));
    return w.Tuple(parts);
  }
  if (!shape.IsArray() || shape.dims == x->shape().dims) return x;
  PaddingConfig padding(shape.rank());
  for (int64_t d = 0; d < shape.rank(); ++d) padding[d].high = shape.dims[d] - x->shape().dims[d];
  return w.Pad(x, w.Integer(shape.type, 0), std::move(padding));
}

// Numbers for partitions, equal where their shapes are; `shapes` gets one a number.
std::vector<int64_t> Numbered(const Shape& whole, absl::Span<const Cut> cuts, int64_t partitions,
                              std::vector<Shape>& shapes) {
  std::vector<int64_t> numbers;
  for (int64_t device = 0; device < partitions; ++device) {
    size_t next = 0;
    const Shape own = OwnRows(whole, cuts, next, device);
    int64_t number = 0;
    while (number < static_cast<int64_t>(shapes.size()) && !Compatible(shapes[number], own))
      ++number;
    if (number == static_cast<int64_t>(shapes.size())) shapes.push_back(own);
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

absl::Status SpmdVisitor::Infeed(const Instruction& i) {
  if (AllOnOneDevice(cuts_)) return OnOneDevice(i);
  std::vector<Shape> shapes;
  const std::vector<int64_t> numbers = Numbered(i.shape(), cuts_, context_.partitions, shapes);
  Instruction* token = Of(i.operand(0)).value;
  if (shapes.size() == 1) {
    Set(i, Clone(i, LocalShape(i), {token}));
    return absl::OkStatus();
  }
  const Shape local = LocalShape(i);
  Set(i, ByGroups(numbers, token, local, [&](int64_t k, Instruction* parameter, HloWriter& w) {
        Instruction* part = parameter->parent()->Add(i.CloneWith(shapes[k], {parameter}), i.name());
        if (part->HasExtras()) part->mutable_extras().sharding.reset();
        return Resized(w, part, local);
      }));
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Outfeed(const Instruction& i) {
  if (AllOnOneDevice(cuts_)) return OnOneDevice(i);
  const Shape& data = i.operand(0)->shape();
  std::vector<Cut> cuts;
  const Sharding* own = i.sharding();
  int64_t leaf = 0;
  for (const ShapeLeaf& part : Leaves(data)) {
    const Sharding* of = own;
    if (own != nullptr && own->kind == Sharding::Kind::kTuple)
      of = leaf < static_cast<int64_t>(own->elements.size()) ? &own->elements[leaf] : nullptr;
    if (of == nullptr) return Unimplemented("spmd-partitioning: ", i.name(), " has no sharding");
    ASSIGN_OR_RETURN(Cut cut, CutOf(*of, *part.shape, context_.partitions));
    cuts.push_back(std::move(cut));
    ++leaf;
  }
  const Shard given = sharder_.To(Of(i.operand(0)), cuts);
  Instruction* token = Of(i.operand(1)).value;
  cuts_ = {Cut()};
  std::vector<Shape> shapes;
  const std::vector<int64_t> numbers = Numbered(data, cuts, context_.partitions, shapes);
  if (shapes.size() == 1) {
    Instruction* made = Clone(i, i.shape(), {given.value, token});
    made->mutable_attr<OutfeedAttrs>().outfeed_shape = given.value->shape();
    Set(i, made);
    return absl::OkStatus();
  }
  const std::vector<Instruction*> both = {given.value, token};
  Set(i, ByGroups(numbers, w_.Tuple(both), i.shape(),
                  [&](int64_t k, Instruction* parameter, HloWriter& w) {
                    Instruction* part = Resized(w, w.Part(parameter, 0), shapes[k]);
                    Instruction* made = parameter->parent()->Add(
                        i.CloneWith(i.shape(), {part, w.Part(parameter, 1)}), i.name());
                    if (made->HasExtras()) made->mutable_extras().sharding.reset();
                    made->mutable_attr<OutfeedAttrs>().outfeed_shape = part->shape();
                    return made;
                  }));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
