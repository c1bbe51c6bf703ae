// Gathers and scatters. Dimensions of the indices (but the one that lists coordinates) go along
// those of the gathered result and of the updates; dimensions of the operand that slices take whole
// go along the slices' own; batching dimensions, named or told by iotas among the coordinates, go
// along all three.
//   gather(f32[8,64], s32[8,3,1] with batching dimension 0)  ->  f32[8,3,64]
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/spmd/indexed_dims.h"
#include "passes/spmd/spread_rules.h"

namespace hlokit {
namespace {

struct Form {
  const DimVector &window, &dropped, &coordinates, &operand_batch, &index_batch;
  int64_t vector_dim;
  DimVector sizes;  // of a slice, by dimension of the operand
};

// What a parameter, or a part of one, is in the computation that calls its own, where only one
// place does and, if that is a loop, each round hands it on: one step outwards. False where there
// is none.
bool StepOut(const Instruction*& source, int64_t& part) {
  const std::vector<Instruction*> callers = source->parent()->Callers();
  if (callers.size() != 1) return false;
  const Instruction& caller = *callers[0];
  const auto called = caller.called();
  if (caller.opcode() == Opcode::kCall) {
    source = caller.operand(source->parameter_number());
  } else if (caller.opcode() == Opcode::kConditional) {
    const auto branch = std::find(called.begin(), called.end(), source->parent());
    source = caller.operand(branch - called.begin() + 1);
  } else if (caller.opcode() == Opcode::kWhile) {
    const Instruction& root = *called[1]->root();
    const Instruction* next = part < 0 ? &root : nullptr;
    if (part >= 0 && root.opcode() == Opcode::kTuple) next = root.operand(part);
    if (next != nullptr && part >= 0)
      next = next->opcode() == Opcode::kGetTupleElement && next->tuple_index() == part
                 ? next->operand(0)
                 : nullptr;
    if (next == nullptr || !next->IsParameter()) return false;
    source = caller.operand(0);
  } else {
    return false;
  }
  return true;
}

// The instruction that makes `value` outside the loops, branches and calls that hand it in; `value`
// itself where that is not known.
const Instruction& Origin(const Instruction& value) {
  constexpr int kMaxSteps = 64;
  const Instruction* source = &value;
  int64_t part = -1;  // of the tuple that `source` is; -1: all of it
  for (int step = 0; step < kMaxSteps; ++step) {
    if (part >= 0 && source->opcode() == Opcode::kTuple) {
      source = source->operand(part);
      part = -1;
    } else if (part < 0 && source->opcode() == Opcode::kGetTupleElement) {
      part = source->tuple_index();
      source = source->operand(0);
    } else if (!source->IsParameter() || !StepOut(source, part)) {
      break;
    }
  }
  return part < 0 ? *source : value;
}

// Whether each element of a constant is its own place along `dim`.
bool CountsUp(const Literal& values, int64_t dim) {
  const Shape& shape = values.shape();
  if (!IsInteger(shape.type)) return false;
  int64_t inner = 1;
  for (int64_t d = dim + 1; d < shape.rank(); ++d) inner *= shape.dims[d];
  for (int64_t k = 0; k < shape.ElementCount(); ++k)
    if (values.GetInt(k) != k / inner % shape.dims[dim]) return false;
  return true;
}

bool IsIotaAlong(const Instruction& value, int64_t dim) {
  const Instruction& i = Origin(value);
  if (i.opcode() == Opcode::kIota) return i.attr<IotaAttrs>().iota_dimension == dim;
  if (i.opcode() == Opcode::kConstant)
    return i.literal() != nullptr && i.shape().IsArray() && CountsUp(*i.literal(), dim);
  if (i.opcode() != Opcode::kBroadcast) return false;
  const DimVector& dims = i.attr<BroadcastAttrs>().dimensions;
  const auto from = std::find(dims.begin(), dims.end(), dim);
  return from != dims.end() && IsIotaAlong(*i.operand(0), from - dims.begin());
}

// Along which dimension of the indices, of size `extent`, coordinate k counts; -1 where it does
// not.
int64_t CountsAlong(const Instruction& indices, int64_t k, int64_t vector_dim, int64_t extent) {
  const Instruction* part = &indices;
  if (indices.opcode() == Opcode::kConcatenate) {
    if (indices.attr<DimensionsAttrs>().dimensions[0] != vector_dim) return -1;
    int64_t at = 0;
    part = nullptr;
    for (const Instruction* operand : indices.operands()) {
      const int64_t size = operand->shape().dims[vector_dim];
      if (k >= at && k < at + size && size == 1) part = operand;
      at += size;
    }
    if (part == nullptr) return -1;
  } else if (vector_dim < indices.shape().rank() && indices.shape().dims[vector_dim] != 1) {
    return -1;
  }
  for (int64_t d = 0; d < indices.shape().rank(); ++d)
    if (d != vector_dim && indices.shape().dims[d] == extent && IsIotaAlong(*part, d)) return d;
  return -1;
}

IndexedDims Read(const Form& form, const Instruction& operand, const Instruction& indices,
                 const Shape& slices) {
  IndexedDims found;
  DimVector scattered;
  for (int64_t d = 0; d < slices.rank(); ++d)
    if (!Contains(form.window, d)) scattered.push_back(d);
  size_t next = 0;
  for (int64_t d = 0; d < indices.shape().rank(); ++d)
    found.index_to_slices.push_back(
        d == form.vector_dim || next >= scattered.size() ? -1 : scattered[next++]);
  next = 0;
  for (int64_t d = 0; d < operand.shape().rank(); ++d) {
    found.operand_to_slices.push_back(-1);
    if (Contains(form.dropped, d) || Contains(form.operand_batch, d)) continue;
    const int64_t to = next < form.window.size() ? form.window[next++] : -1;
    if (to >= 0 && slices.dims[to] == operand.shape().dims[d]) found.operand_to_slices[d] = to;
  }
  for (size_t k = 0; k < form.operand_batch.size(); ++k) {
    found.parallel_operand.push_back(form.operand_batch[k]);
    found.parallel_index.push_back(form.index_batch[k]);
  }
  for (size_t k = 0; k < form.coordinates.size(); ++k) {
    const int64_t d = form.coordinates[k];
    if (!Contains(form.dropped, d)) continue;
    const int64_t along = CountsAlong(indices, k, form.vector_dim, operand.shape().dims[d]);
    if (along < 0 || Contains(found.parallel_index, along)) continue;
    found.parallel_operand.push_back(d);
    found.parallel_index.push_back(along);
  }
  return found;
}

int64_t ArraysOf(const Instruction& scatter) { return scatter.operand_count() / 2; }

}  // namespace

IndexedDims ReadGather(const Instruction& i) {
  const auto& a = i.attr<GatherAttrs>();
  return Read({a.offset_dims, a.collapsed_slice_dims, a.start_index_map, a.operand_batching_dims,
               a.start_indices_batching_dims, a.index_vector_dim, a.slice_sizes},
              *i.operand(0), *i.operand(1), i.shape());
}

IndexedDims ReadScatter(const Instruction& i) {
  const auto& a = i.attr<ScatterAttrs>();
  const int64_t n = ArraysOf(i);
  return Read({a.update_window_dims,
               a.inserted_window_dims,
               a.scatter_dims_to_operand_dims,
               a.input_batching_dims,
               a.scatter_indices_batching_dims,
               a.index_vector_dim,
               {}},
              *i.operand(0), *i.operand(n), i.operand(n + 1)->shape());
}

namespace {

DimVector Inverted(const DimVector& to, int64_t rank) {
  DimVector from(rank, -1);
  for (size_t d = 0; d < to.size(); ++d)
    if (to[d] >= 0) from[to[d]] = d;
  return from;
}

// The operand's dimensions to those of the slices: batching ones, those taken whole, or both.
DimVector OperandMap(const IndexedDims& x, bool parallel, bool whole) {
  DimVector map(x.operand_to_slices.size(), -1);
  if (whole) map = x.operand_to_slices;
  for (size_t k = 0; parallel && k < x.parallel_operand.size(); ++k)
    map[x.parallel_operand[k]] = x.index_to_slices[x.parallel_index[k]];
  return map;
}

// The operand's dimensions to those of the indices.
DimVector OperandToIndex(const IndexedDims& x) {
  DimVector map(x.operand_to_slices.size(), -1);
  for (size_t k = 0; k < x.parallel_operand.size(); ++k)
    map[x.parallel_operand[k]] = x.parallel_index[k];
  return map;
}

}  // namespace

std::vector<Candidate> FromGatherOperands(const Instruction& i, const KnownSpreads& known) {
  const IndexedDims x = ReadGather(i);
  const int64_t rank = i.shape().rank();
  std::vector<Candidate> all;
  const bool by_index = known.Propagates(i.operand(1)), by_operand = known.Propagates(i.operand(0));
  if (by_index) all.push_back({{MovedTo(known[i.operand(1)][0], x.index_to_slices, rank)}});
  if (!by_operand) return all;
  const Spread& operand = known[i.operand(0)][0];
  if (!x.parallel_operand.empty())
    all.push_back({{MovedTo(operand, OperandMap(x, true, false), rank)}});
  const Spread whole = MovedTo(operand, OperandMap(x, false, true), rank);
  if (whole.IsTiled()) all.push_back({{whole}});
  return all;
}

Spreads FromGatherUser(const Instruction& i, const Instruction& user, const KnownSpreads& known) {
  const IndexedDims x = ReadGather(user);
  const Spread& result = known[&user][0];
  const int64_t rank = user.shape().rank();
  if (&i == user.operand(1))
    return {MovedTo(result, Inverted(x.index_to_slices, rank), i.shape().rank())};
  return {MovedTo(result, Inverted(OperandMap(x, true, true), rank), i.shape().rank())};
}

std::vector<Candidate> FromScatterOperands(const Instruction& i, const KnownSpreads& known) {
  const IndexedDims x = ReadScatter(i);
  const int64_t n = ArraysOf(i), rank = i.operand(0)->shape().rank();
  const int64_t slices = i.operand(n + 1)->shape().rank();
  const auto each = [n](std::vector<Spread> spreads) {
    return Candidate{Spreads(spreads.size() == 1 ? Spreads(n, spreads[0]) : std::move(spreads))};
  };
  // One for each array, where all are known; else what the first says.
  const auto of_all = [&](int64_t first, const DimVector* map) -> std::optional<Candidate> {
    std::vector<Spread> spreads;
    for (int64_t k = 0; k < n; ++k) {
      if (!known.Propagates(i.operand(first + k))) return std::nullopt;
      const Spread& own = known[i.operand(first + k)][0];
      spreads.push_back(map == nullptr ? own : MovedTo(own, *map, rank));
    }
    return each(std::move(spreads));
  };
  std::vector<Candidate> all;
  if (auto own = of_all(0, nullptr)) all.push_back(*own);
  const DimVector parallel = Inverted(OperandMap(x, true, false), slices);
  const DimVector whole = Inverted(OperandMap(x, false, true), slices);
  if (!x.parallel_operand.empty()) {
    const Instruction* indices = i.operand(n);
    if (known.Propagates(indices)) {
      const DimVector map = Inverted(OperandToIndex(x), indices->shape().rank());
      all.push_back(each({MovedTo(known[indices][0], map, rank)}));
    }
    if (auto own = of_all(n + 1, &parallel)) all.push_back(*own);
  }
  if (auto own = of_all(n + 1, &whole)) all.push_back(*own);
  return all;
}

Spreads FromScatterUser(const Instruction& i, const Instruction& user, const KnownSpreads& known) {
  const IndexedDims x = ReadScatter(user);
  const int64_t n = ArraysOf(user);
  int64_t at = 0;
  while (user.operand(at) != &i) ++at;
  const Spreads& results = known[&user];
  if (at < n) return {results[at]};
  const Instruction* indices = user.operand(n);
  const int64_t slices = user.operand(n + 1)->shape().rank();
  Spread made;
  if (at == n) {
    const Instruction* update = user.operand(n + 1);
    if (known.Propagates(update))
      made = MovedTo(known[update][0], Inverted(x.index_to_slices, slices), i.shape().rank());
    MergeIfCompatible(MovedTo(results[0], OperandToIndex(x), i.shape().rank()), TileCount(made) + 1,
                      made);
    return made.IsTiled() ? Spreads{made} : Spreads{};
  }
  made = MovedTo(results[at - n - 1], OperandMap(x, true, true), slices);
  if (known.Propagates(indices))
    MergeIfCompatible(MovedTo(known[indices][0], x.index_to_slices, slices), TileCount(made) + 1,
                      made);
  return made.IsTiled() ? Spreads{made} : Spreads{};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
