// windowed-einsum-handler: runs the parts of products on queues of their own beside the transfers
// that bring or take their pieces.
// Matches (1) loops over windows, which partitioners name windowed_dot_general_body_ag and _rs:
// each product of a body with more than one gets a queue, its reader waits for that, and the first
// permute starts as early as it can; (2) a product of an all-to-all along another dimension than
// the contracting one, and an all-to-all of a product, reshapes, transposes and copies between them
// included: splits the contracting dimension into as many parts as a group has devices, with an
// all-to-all and a product each, and adds them up. Exact but for the order of the sum. Cost:
// linear.
//   dot(all-to-all(x), y)  ->  sum over k of dot(all-to-all(slice_k(x)), slice_k(y))
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "passes/collectives/loop_updates.h"
#include "passes/framework/pass.h"
#include "passes/gpu/backend_config.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {
namespace {

constexpr char kForce[] = "force_earliest_schedule";

bool IsPart(const Instruction* x, int64_t index) {
  return x->opcode() == Opcode::kGetTupleElement && x->tuple_index() == index &&
         x->operand(0)->IsParameter();
}

// The product runs on that queue, and what reads it waits for it.
void RunOnQueue(Instruction* dot, int64_t queue) {
  BackendConfig own = BackendConfig::Of(*dot);
  own.SetInt("operation_queue_id", queue);
  own.WriteTo(*dot);
  if (dot->users().empty()) return;
  Instruction* reader = dot->users()[0];
  BackendConfig config = BackendConfig::Of(*reader);
  std::string waits(config.Raw("wait_on_operation_queues"));
  const std::string added = absl::StrCat("\"", queue, "\"");
  if (absl::StrContains(waits, added)) return;
  waits = waits.size() <= 2 ? absl::StrCat("[", added, "]")
                            : absl::StrCat(waits.substr(0, waits.size() - 1), ",", added, "]");
  config.SetRaw("wait_on_operation_queues", waits);
  config.WriteTo(*reader);
}

// Of a body over windows. `gathers`: an all-gather's, else a reduce-scatter's.
bool AnnotateLoop(Computation& body, bool gathers, int64_t& queue) {
  std::vector<Instruction*> dots, permutes;
  int64_t all_dots = 0;
  for (Instruction* i : body.PostOrder()) {
    all_dots += i->opcode() == Opcode::kDot;
    if (i->opcode() == Opcode::kCollectivePermute && IsPart(i->operand(0), gathers ? 0 : 2))
      permutes.push_back(i);
    const auto is_window = [&](const Instruction* x) {
      return gathers ? IsPart(x, 0) : x->opcode() == Opcode::kDynamicSlice;
    };
    if (i->opcode() == Opcode::kDot && is_window(i->operand(0)) && IsPart(i->operand(1), 1))
      dots.push_back(i);
  }
  if (all_dots <= 1) return false;
  bool changed = false;
  for (Instruction* permute : permutes) {
    BackendConfig config = BackendConfig::Of(*permute);
    if (config.Raw(kForce) == "true") continue;
    config.SetBool(kForce, true);
    config.WriteTo(*permute);
    changed = true;
  }
  for (Instruction* dot : dots) {
    if (!BackendConfig::Of(*dot).Raw("operation_queue_id").empty()) continue;
    RunOnQueue(dot, queue++);
    changed = true;
  }
  return changed;
}

bool OnlyMoves(const Instruction* i) {
  return (i->opcode() == Opcode::kReshape || i->opcode() == Opcode::kTranspose ||
          i->opcode() == Opcode::kCopy) &&
         i->users().size() == 1 && !i->IsRoot() && i->control_predecessors().empty() &&
         i->control_successors().empty();
}

int64_t ElementsBefore(const Shape& shape, int64_t d) {
  int64_t count = 1;
  for (int64_t k = 0; k < d; ++k) count *= shape.dims[k];
  return count;
}

// The dimension of `to` that is the whole dimension `d` of `from`, or -1.
int64_t SameDimension(const Shape& from, int64_t d, const Shape& to) {
  for (int64_t k = 0; k < to.rank(); ++k)
    if (to.dims[k] == from.dims[d] && to.dims[k] != 1 &&
        ElementsBefore(to, k) == ElementsBefore(from, d))
      return k;
  return -1;
}

// Where dimension `d` of the operand is in the result, or (`back`) the other way round.
int64_t Follow(const Instruction* move, int64_t d, bool back) {
  const Shape &operand = move->operand(0)->shape(), &result = move->shape();
  if (d < 0 || move->opcode() == Opcode::kCopy) return d;
  if (move->opcode() == Opcode::kReshape)
    return back ? SameDimension(result, d, operand) : SameDimension(operand, d, result);
  const DimVector& order = move->attr<DimensionsAttrs>().dimensions;
  return back ? order[d] : std::find(order.begin(), order.end(), d) - order.begin();
}

// From `x` through what only moves, the last first; `x` becomes what that began with.
std::vector<Instruction*> MovesBehind(Instruction*& x) {
  std::vector<Instruction*> moves;
  for (; OnlyMoves(x); x = x->operand(0)) moves.push_back(x);
  return moves;
}

bool IsSplit(const Instruction* i) {
  return i->opcode() == Opcode::kAllToAll && IsPlainCollective(i) &&
         i->attr<AllToAllAttrs>().dimensions.has_value() && GroupSize(*i) > 1;
}

// A product over one dimension, which falls into as many parts as a group of `exchange` has
// devices.
bool FallsIntoParts(const Instruction* dot, const Instruction* exchange) {
  if (dot->opcode() != Opcode::kDot || !dot->control_predecessors().empty() ||
      !dot->control_successors().empty() || dot->shape().HasDynamicDims() ||
      dot->operand(0)->shape().HasDynamicDims() || dot->operand(1)->shape().HasDynamicDims())
    return false;
  const auto& attrs = dot->attr<DotAttrs>();
  return attrs.lhs_contracting_dims.size() == 1 &&
         dot->operand(0)->shape().dims[attrs.lhs_contracting_dims[0]] % GroupSize(*exchange) == 0;
}

// The parts of one product with an exchange each, and their sum.
class Parts {
 public:
  Parts(Instruction* dot, const Instruction* exchange, Rewriter& r)
      : dot_(dot), exchange_(exchange), count_(GroupSize(*exchange)), r_(r) {}

  // `exchanged`: the operand that goes through the all-to-all, of which the dimension `d` is cut;
  // -1: the result does.
  Instruction* Sum(Instruction* lhs, Instruction* rhs, int64_t exchanged, int64_t d,
                   int64_t queue) {
    const auto& attrs = dot_->attr<DotAttrs>();
    std::vector<Instruction*> parts, dots;
    for (int64_t k = 0; k < count_; ++k) {
      Instruction* operands[] = {Slice(lhs, attrs.lhs_contracting_dims[0], k),
                                 Slice(rhs, attrs.rhs_contracting_dims[0], k)};
      if (exchanged >= 0) operands[exchanged] = Exchange(operands[exchanged], d);
      dots.push_back(r_.Clone(dot_, dot_->shape(), operands));
      parts.push_back(exchanged >= 0 ? dots.back() : Exchange(dots.back(), d));
    }
    Instruction* sum = r_.Splat(dot_->shape(), 0);
    for (Instruction* part : parts) sum = r_.Add(Opcode::kAdd, dot_->shape(), {part, sum});
    for (Instruction* dot : dots) RunOnQueue(dot, queue++);
    return sum;
  }

 private:
  Instruction* Slice(Instruction* x, int64_t d, int64_t k) {
    Shape shape = x->shape();
    const int64_t size = shape.dims[d] / count_;
    SliceAttrs attrs;
    for (const int64_t whole : shape.dims) attrs.slice.push_back({0, whole, 1});
    attrs.slice[d] = {k * size, (k + 1) * size, 1};
    shape.dims[d] = size;
    return r_.Add(Opcode::kSlice, shape, {x}, std::move(attrs));
  }

  Instruction* Exchange(Instruction* x, int64_t d) {
    Instruction* made = r_.Clone(exchange_, x->shape(), {&x, 1});
    auto& attrs = made->mutable_attr<AllToAllAttrs>();
    attrs.dimensions = DimVector{d};
    if (attrs.channel_id) attrs.channel_id = LargestChannel(*made->module()) + 1;
    return made;
  }

  Instruction* const dot_;
  const Instruction* const exchange_;
  const int64_t count_;
  Rewriter& r_;
};

// `moves`, the last first, of `x`.
Instruction* Moved(const std::vector<Instruction*>& moves, Instruction* x, Rewriter& r) {
  for (size_t k = moves.size(); k-- > 0;) x = r.Clone(moves[k], moves[k]->shape(), {&x, 1});
  return x;
}

// The number of the first queue: behind all channels, of which one goes to what was moved.
int64_t FirstQueue(const Module& module, bool moved) { return LargestChannel(module) + 1 + moved; }

// dot(moves(all-to-all(x)), y), or the same on the right.
Instruction* ProductOfExchange(Instruction* dot, Rewriter& r) {
  for (const int64_t side : {0, 1}) {
    if (dot->opcode() != Opcode::kDot || dot->operand(0) == dot->operand(1)) return nullptr;
    Instruction* x = dot->operand(side);
    const std::vector<Instruction*> moves = MovesBehind(x);
    if (!IsSplit(x) || x->users().size() != 1 || x->IsRoot() || !FallsIntoParts(dot, x)) continue;
    int64_t d = (*x->attr<AllToAllAttrs>().dimensions)[0];
    for (size_t k = moves.size(); k-- > 0;) d = Follow(moves[k], d, /*back=*/false);
    const auto& attrs = dot->attr<DotAttrs>();
    if (d < 0 || d == (side == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims)[0])
      continue;
    Instruction* operands[] = {dot->operand(0), dot->operand(1)};
    operands[side] = Moved(moves, x->operand(0), r);
    return Parts(dot, x, r).Sum(operands[0], operands[1], side, d,
                                FirstQueue(*dot->module(), !moves.empty()));
  }
  return nullptr;
}

// all-to-all(moves(dot(x, y)))
Instruction* ExchangeOfProduct(Instruction* exchange, Rewriter& r) {
  if (!IsSplit(exchange)) return nullptr;
  Instruction* dot = exchange->operand(0);
  const std::vector<Instruction*> moves = MovesBehind(dot);
  if (!FallsIntoParts(dot, exchange) || dot->users().size() != 1 || dot->IsRoot()) return nullptr;
  int64_t d = (*exchange->attr<AllToAllAttrs>().dimensions)[0];
  for (const Instruction* move : moves) d = Follow(move, d, /*back=*/true);
  if (d < 0) return nullptr;
  Instruction* sum = Parts(dot, exchange, r)
                         .Sum(dot->operand(0), dot->operand(1), /*exchanged=*/-1, d,
                              FirstQueue(*dot->module(), !moves.empty()));
  return Moved(moves, sum, r);
}

class WindowedEinsumHandler final : public ComputationPass {
 public:
  absl::string_view name() const override { return "windowed-einsum-handler"; }

  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    const bool gathers = absl::StartsWith(c.name(), "windowed_dot_general_body_ag");
    bool changed = false;
    if (gathers || absl::StartsWith(c.name(), "windowed_dot_general_body_rs")) {
      int64_t queue = LargestChannel(*c.module()) + 1;
      changed = AnnotateLoop(c, gathers, queue);
    }
    Rewriter r(c);
    for (Instruction* i : c.PostOrder()) {
      r.set_subject(i);
      Instruction* made = ProductOfExchange(i, r);
      if (made == nullptr) made = ExchangeOfProduct(i, r);
      if (made == nullptr) continue;
      i->ReplaceAllUsesWith(made);
      c.RemoveIfDead(i);
      changed = true;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> CreateWindowedEinsumHandler() {
  return std::make_unique<WindowedEinsumHandler>();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
