// Common subexpression elimination: value numbering by hash in post order. Two instructions are
// equal if opcode, attributes, shape and operands are equal, and their called computations are the
// same or equal up to kMaxComparedFunction instructions. Operands are merged first, so equality of
// whole expressions follows in one pass. Two of which both have a sharding are equal only if the
// shardings are; a custom call that marks a sharding is equal only to one with the same. Near
// linear.
//   s = custom-call(x), custom_call_target="Sharding", sharding={manual}
//   t = custom-call(x), custom_call_target="Sharding", sharding={replicated}   both stay
#include "passes/cleanup/cse.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "passes/rewrite/any_layout.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxComparedFunction = 64;

bool Mergeable(const Instruction* i) {
  constexpr uint16_t kKeep = kSideEffect | kCollective | kAsyncStart | kAsyncDone;
  if ((Info(i->opcode()).traits & kKeep) != 0) return false;
  if (!i->control_predecessors().empty() || !i->control_successors().empty()) return false;
  switch (i->opcode()) {
    case Opcode::kParameter:
    case Opcode::kAsyncUpdate:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
    case Opcode::kOptimizationBarrier:
      return false;
    case Opcode::kConstant:
      return i->literal() != nullptr;
    case Opcode::kCall:
    case Opcode::kCustomCall:
    case Opcode::kFusion:
    case Opcode::kWhile:  // JAX repeats whole searches, which flatten-call-graph has given copies
                          // of one body
    case Opcode::kConditional:
      return !i->HasSideEffect();
    default:
      return true;
  }
}

// Whether one may stand for the other as far as shardings go. Constants have any.
bool SameSharding(const Instruction* a, const Instruction* b, bool exactly) {
  if (!a->HasExtras() && !b->HasExtras()) return true;
  if (a->IsConstant()) return true;
  const Sharding *x = a->sharding(), *y = b->sharding();
  if (x == nullptr && y == nullptr) return true;
  if (x == nullptr || y == nullptr) return !exactly && a->opcode() != Opcode::kCustomCall;
  return *x == *y;
}

constexpr int kMaxComparedDepth = 3;  // of functions that call functions

bool Alike(const Computation* a, const Computation* b, int64_t limit, int depth);

// Functions that they call are compared `depth` calls deep.
bool SameButForShape(const Instruction* a, const Instruction* b, int depth = kMaxComparedDepth) {
  if (a->opcode() != b->opcode() || a->operand_count() != b->operand_count()) return false;
  if (a->SameAttributes(*b)) return true;
  if (depth == 0 || a->called().empty() || a->called().size() != b->called().size()) return false;
  if (a->attributes() != nullptr && !a->attributes()->Equals(*b->attributes())) return false;
  for (size_t k = 0; k < a->called().size(); ++k)
    if (!Alike(a->called(k), b->called(k), kMaxComparedFunction, depth - 1)) return false;
  return true;
}

bool Alike(const Computation* a, const Computation* b, int64_t limit, int depth) {
  if (a == b) return true;
  if (a->instruction_count() != b->instruction_count() || a->instruction_count() > limit)
    return false;
  const auto x = a->PostOrder(), y = b->PostOrder();
  absl::flat_hash_map<const Instruction*, const Instruction*> twin;
  for (size_t k = 0; k < x.size(); ++k) {
    if (x[k]->shape() != y[k]->shape() || !SameButForShape(x[k], y[k], depth)) return false;
    for (int64_t o = 0; o < x[k]->operand_count(); ++o)
      if (twin.at(x[k]->operand(o)) != y[k]->operand(o)) return false;
    twin[x[k]] = y[k];
  }
  return twin.at(a->root()) == b->root();
}

bool Commutes(const Instruction* i) {
  return HasTrait(i->opcode(), kCommutative) && i->operand_count() == 2;
}

struct Hash {
  size_t operator()(const Instruction* i) const {
    size_t h = absl::HashOf(static_cast<int>(i->opcode()), i->shape());
    if (i->IsConstant()) {
      const Literal& value = *i->literal();
      const size_t bytes = value.shape().IsArray() ? std::min<int64_t>(value.byte_size(), 64) : 0;
      return absl::HashOf(h, absl::string_view(reinterpret_cast<const char*>(value.data()), bytes));
    }
    if (Commutes(i)) {
      const auto [low, high] = std::minmax({i->operand(0)->id(), i->operand(1)->id()});
      return absl::HashOf(h, low, high);
    }
    for (const Instruction* operand : i->operands()) h = absl::HashOf(h, operand->id());
    if (i->opcode() == Opcode::kGetTupleElement) h = absl::HashOf(h, i->tuple_index());
    return h;
  }
};

// Exact, or but for the order of dimensions in memory.
template <bool kInAnyOrder>
struct Equal {
  bool same_shardings = false;
  bool operator()(const Instruction* a, const Instruction* b) const {
    if (a == b) return true;
    const bool same =
        kInAnyOrder ? SameButForOrder(a->shape(), b->shape()) : a->shape() == b->shape();
    if (!same || !SameSharding(a, b, same_shardings) || !SameButForShape(a, b)) return false;
    if (std::equal(a->operands().begin(), a->operands().end(), b->operands().begin())) return true;
    return Commutes(a) && a->operand(0) == b->operand(1) && a->operand(1) == b->operand(0);
  }
};

// Those that were seen, first ones first.
class Seen {
 public:
  explicit Seen(bool same_shardings)
      : exact_(0, Hash(), {same_shardings}), in_any_order_(0, Hash(), {same_shardings}) {}

  // One that computes what `i` does; null if there is none, and then `i` is remembered.
  Instruction* TwinOf(Instruction* i) {
    const auto [found, fresh] = exact_.insert(i);
    if (!fresh) return *found;
    if (!i->shape().IsArray() || !HasTrait(i->opcode(), kLayoutInsensitive)) return nullptr;
    const auto [similar, first] = in_any_order_.insert(i);
    if (first || !UsersTakeAnyOrder(i)) return nullptr;
    exact_.erase(i);
    return *similar;
  }

 private:
  absl::flat_hash_set<Instruction*, Hash, Equal<false>> exact_;
  absl::flat_hash_set<Instruction*, Hash, Equal<true>> in_any_order_;
};

class Cse final : public ComputationPass {
 public:
  absl::string_view name() const override { return "cse"; }
  bool into_fusions() const override { return true; }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override { return MergeEqual(c); }
};

}  // namespace

bool SameComputation(const Computation* a, const Computation* b, int64_t limit) {
  return Alike(a, b, limit, kMaxComparedDepth);
}

bool MergeEqual(Computation& computation, bool same_shardings) {
  bool changed = false;
  Seen seen(same_shardings);
  for (Instruction* i : computation.PostOrder()) {
    if (!Mergeable(i) || (i->users().empty() && !i->IsRoot())) continue;
    Instruction* const twin = seen.TwinOf(i);
    if (twin == nullptr) continue;
    i->ReplaceAllUsesWith(twin);
    computation.Remove(i);
    changed = true;
  }
  return changed;
}

std::unique_ptr<Pass> CreateCse() { return std::make_unique<Cse>(); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
