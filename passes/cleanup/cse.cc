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
#include "passes/rewrite/control_edges.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxComparedFunction = 64;

bool Mergeable(const Instruction* i) {
  constexpr uint16_t kKeep = kSideEffect | kCollective | kAsyncStart | kAsyncDone;
  if ((Info(i->opcode()).traits & kKeep) != 0) return false;
  if (HasControlEdges(*i)) return false;
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

// Iotas that stay although an equal one came before: that one, for each.
using FirstIotas = absl::flat_hash_map<const Instruction*, const Instruction*>;

// The operand, or the iota that it is as good as.
const Instruction* Canonical(const Instruction* operand, const FirstIotas& iotas) {
  if (operand->opcode() != Opcode::kIota) return operand;
  const auto found = iotas.find(operand);
  return found == iotas.end() ? operand : found->second;
}

struct Hash {
  const FirstIotas* iotas;
  size_t operator()(const Instruction* i) const {
    size_t h = absl::HashOf(static_cast<int>(i->opcode()), i->shape());
    if (i->IsConstant()) {
      const Literal& value = *i->literal();
      const size_t bytes = value.shape().IsArray() ? std::min<int64_t>(value.byte_size(), 64) : 0;
      return absl::HashOf(h, absl::string_view(reinterpret_cast<const char*>(value.data()), bytes));
    }
    if (Commutes(i)) {
      const auto [low, high] = std::minmax(
          {Canonical(i->operand(0), *iotas)->id(), Canonical(i->operand(1), *iotas)->id()});
      return absl::HashOf(h, low, high);
    }
    for (const Instruction* operand : i->operands())
      h = absl::HashOf(h, Canonical(operand, *iotas)->id());
    if (i->opcode() == Opcode::kGetTupleElement) h = absl::HashOf(h, i->tuple_index());
    return h;
  }
};

// Exact, or but for the order of dimensions in memory.
template <bool kInAnyOrder>
struct Equal {
  bool same_shardings;
  const FirstIotas* iotas;
  bool Same(const Instruction* x, const Instruction* y) const {
    return x == y || Canonical(x, *iotas) == Canonical(y, *iotas);
  }
  bool operator()(const Instruction* a, const Instruction* b) const {
    if (a == b) return true;
    const bool same =
        kInAnyOrder ? SameButForOrder(a->shape(), b->shape()) : a->shape() == b->shape();
    if (!same || !SameSharding(a, b, same_shardings) || !SameButForShape(a, b)) return false;
    if (std::equal(a->operands().begin(), a->operands().end(), b->operands().begin(),
                   [this](const Instruction* x, const Instruction* y) { return Same(x, y); }))
      return true;
    return Commutes(a) && Same(a->operand(0), b->operand(1)) && Same(a->operand(1), b->operand(0));
  }
};

// Those that were seen, first ones first.
class Seen {
 public:
  explicit Seen(bool same_shardings)
      : exact_(0, Hash{&iotas_}, {same_shardings, &iotas_}),
        in_any_order_(0, Hash{&iotas_}, {same_shardings, &iotas_}) {}

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

  // Remembers which iota `iota` is as good as, where both stay.
  void Keep(Instruction* iota) {
    const Instruction* const twin = *exact_.insert(iota).first;
    if (twin != iota) iotas_[iota] = twin;
  }

  // Equal iotas among the operands of one instruction: the first one for all.
  bool MergeIotasOf(Instruction* user) const {
    bool changed = false;
    absl::flat_hash_map<const Instruction*, Instruction*>
        first_of;  // by the iota they are equal to
    for (int64_t k = 0; k < user->operand_count(); ++k) {
      Instruction* const operand = user->operand(k);
      if (operand->opcode() != Opcode::kIota) continue;
      Instruction* const first =
          first_of.try_emplace(Canonical(operand, iotas_), operand).first->second;
      if (first == operand) continue;
      user->SetOperand(k, first);
      changed = true;
    }
    return changed;
  }

 private:
  FirstIotas iotas_;
  absl::flat_hash_set<Instruction*, Hash, Equal<false>> exact_;
  absl::flat_hash_set<Instruction*, Hash, Equal<true>> in_any_order_;
};

class Cse final : public ComputationPass {
 public:
  explicit Cse(bool iotas) : iotas_(iotas) {}
  absl::string_view name() const override { return "cse"; }
  bool into_fusions() const override { return true; }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    return MergeEqual(c, /*same_shardings=*/false, iotas_);
  }

 private:
  const bool iotas_;
};

}  // namespace

bool SameComputation(const Computation* a, const Computation* b, int64_t limit) {
  return Alike(a, b, limit, kMaxComparedDepth);
}

bool MergeEqual(Computation& computation, bool same_shardings, bool iotas) {
  bool changed = false;
  Seen seen(same_shardings);
  std::vector<Instruction*> kept;  // iotas, some of which lose their readers
  for (Instruction* i : computation.PostOrder()) {
    if (!iotas) {
      if (i->opcode() == Opcode::kIota) {
        if (Mergeable(i) && !i->users().empty()) {
          seen.Keep(i);
          kept.push_back(i);
        }
        continue;
      }
      changed |= seen.MergeIotasOf(i);
    }
    if (!Mergeable(i) || (i->users().empty() && !i->IsRoot())) continue;
    Instruction* const twin = seen.TwinOf(i);
    if (twin == nullptr) continue;
    i->ReplaceAllUsesWith(twin);
    computation.Remove(i);
    changed = true;
  }
  for (Instruction* iota : kept)
    if (iota->users().empty() && !iota->IsRoot()) computation.Remove(iota);
  return changed;
}

std::unique_ptr<Pass> CreateCse(PassArguments& arguments) {
  return std::make_unique<Cse>(
      arguments.Flag("iotas", "merges equal iotas, too, that no instruction reads together"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
