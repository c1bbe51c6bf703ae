// scatter-to-update: rewrites a scatter of one window as an update in place.
// Matches scatters of one array in row-major order whose only window lies at constant indices and
// inside the array, and whose function gives the update or is one operation (what JAX writes for
// x.at[1:-1].set(u) and .add(u)). Loops then make the update where it is written, on all threads;
// a scatter's window is one thread's work. Values stay, bit for bit. Cost: linear.
//   scatter(x, {1}, u), to_apply=add  ->  dynamic-update-slice(x, add(dynamic-slice(x, 1), u), 1)
#include <algorithm>

#include "ops/dim_lists.h"
#include "ops/evaluate/reducer.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

// The operation of a scatter's function on the old element and the update; the copy of the update
// where it gives that alone.
std::optional<Opcode> Combiner(const Computation& function) {
  if (function.parameter_count() == 2 && function.root() == function.parameter(1))
    return Opcode::kCopy;
  return SimpleReducer(function);
}

// What the one window covers of each dimension of the operand; nothing if there are more windows.
std::optional<DimVector> WindowOf(const Instruction& scatter) {
  const auto& attrs = scatter.attr<ScatterAttrs>();
  const DimVector& from = scatter.operand(2)->shape().dims;
  if (!attrs.input_batching_dims.empty()) return std::nullopt;
  DimVector window;
  size_t next = 0;
  for (int64_t d = 0; d < scatter.operand(0)->shape().rank(); ++d)
    window.push_back(
        Contains(attrs.inserted_window_dims, d) ? 1 : from[attrs.update_window_dims[next++]]);
  for (int64_t d = 0; d < static_cast<int64_t>(from.size()); ++d)
    if (!Contains(attrs.update_window_dims, d) && from[d] != 1) return std::nullopt;
  return window;
}

// Where it begins; nothing if only the run knows, or if it reaches out of the array, where scatters
// leave it out.
std::optional<DimVector> StartOf(const Instruction& scatter, const DimVector& window) {
  const Shape& to = scatter.operand(0)->shape();
  const Instruction* at = scatter.operand(1);
  const bool same = at->opcode() == Opcode::kBroadcast && at->operand(0)->shape().IsScalar();
  if (same) at = at->operand(0);
  if (!at->IsConstant() || at->literal() == nullptr) return std::nullopt;
  const DimVector& map = scatter.attr<ScatterAttrs>().scatter_dims_to_operand_dims;
  DimVector start(to.rank());
  for (size_t k = 0; k < map.size(); ++k)
    start[map[k]] = at->literal()->GetInt(same ? 0 : static_cast<int64_t>(k));
  for (int64_t d = 0; d < to.rank(); ++d)
    if (start[d] < 0 || start[d] > to.dims[d] - window[d]) return std::nullopt;
  return start;
}

absl::StatusOr<Instruction*> ToUpdate(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kScatter || i->operand_count() != 3 || !i->shape().IsArray())
    return nullptr;
  Instruction *x = i->operand(0), *update = i->operand(2);
  const bool plain = x->shape().IsRowMajor() && update->shape().IsRowMajor() &&
                     i->shape().IsRowMajor() && !x->shape().HasDynamicDims() &&
                     !update->shape().HasDynamicDims();
  const std::optional<Opcode> combiner = Combiner(*i->to_apply());
  if (!plain || x->shape().rank() == 0 || update->shape().ElementCount() == 0 ||
      !combiner.has_value())
    return nullptr;
  const std::optional<DimVector> window = WindowOf(*i);
  if (!window.has_value()) return nullptr;
  const std::optional<DimVector> start = StartOf(*i, *window);
  if (!start.has_value()) return nullptr;
  const Shape piece = Shape::Array(x->shape().type, *window).WithDefaultLayout();
  std::vector<Instruction*> places = {x};
  for (const int64_t at : *start) {
    Literal place(Shape::Scalar(ElementType::kS64));
    place.SetInt(0, at);
    places.push_back(r.Constant(std::move(place)));
  }
  if (update->shape().dims != piece.dims) update = r.Reshape(update, piece);
  if (*combiner != Opcode::kCopy) {
    Instruction* old = r.Add(Opcode::kDynamicSlice, piece, places, DynamicSliceAttrs{*window});
    update = r.Add(*combiner, piece, {old, update});
  }
  places.insert(places.begin() + 1, update);
  return r.Add(Opcode::kDynamicUpdateSlice, i->shape(), places);
}

}  // namespace

std::unique_ptr<Pass> CreateScatterToUpdate() {
  return MakeExpander("scatter-to-update", ToUpdate);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
