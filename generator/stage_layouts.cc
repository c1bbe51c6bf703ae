// Layouts of a finished module: any order for each array, as layout assignment may have chosen.
//
// Arrays that instructions pass on without a copy (elements of tuples, arguments of calls, the
// state of loops, ...) form classes that get one layout. Bitcasts, and what talks to the host, to
// other devices or to libraries, keep the layouts that they were made with.
#include <algorithm>
#include <numeric>

#include "generator/stages_internal.h"
#include "ir/attributes.h"
#include "ops/infer/op_table.h"
#include "support/dense_map.h"
#include "types/shape_leaves.h"

namespace hlokit {
namespace {

// A run of array leaves of one instruction's shape, in depth-first order.
struct LeafRange {
  int64_t begin = 0, end = 0;
};

// Calls fn(Shape&) for each leaf.
template <typename Fn>
void ForEachLeaf(Shape& shape, const Fn& fn) {
  if (!shape.IsTuple()) return fn(shape);
  for (Shape& element : shape.elements) ForEachLeaf(element, fn);
}

class LayoutClasses {
 public:
  // `mixed`: calls, loops and branches join nothing.
  explicit LayoutClasses(Module& module, bool mixed = false)
      : module_(module), mixed_(mixed), first_(module.id_bound(), 0) {
    int64_t leaves = 0;
    for (const Computation* c : module.Computations())
      c->ForEach([&](const Instruction* i) {
        first_[i->id()] = leaves;
        leaves += NumLeaves(i->shape());
      });
    class_.resize(leaves);
    std::iota(class_.begin(), class_.end(), 0);
    pinned_.resize(leaves, false);
    for (const Computation* c : module.Computations())
      c->ForEach([&](const Instruction* i) { Visit(*i); });
  }

  // Gives each class that is free the layout that choose(shape) makes of its first member's.
  template <typename Choose>
  void Assign(const Choose& choose) {
    std::vector<bool> pinned(class_.size(), false), chosen(class_.size(), false);
    std::vector<Layout> layouts(class_.size());
    for (size_t leaf = 0; leaf < class_.size(); ++leaf)
      if (pinned_[leaf]) pinned[Find(leaf)] = true;
    for (Computation* c : module_.Computations())
      c->ForEach([&](Instruction* i) {
        int64_t leaf = first_[i->id()];
        Shape shape = i->shape();
        ForEachLeaf(shape, [&](Shape& array) {
          const int64_t own = Find(leaf++);
          if (!array.IsArray() || pinned[own]) return;
          if (!chosen[own]) layouts[own] = choose(array);
          chosen[own] = true;
          array.has_layout = true;
          array.layout = layouts[own];
        });
        if (shape != i->shape()) i->set_shape(std::move(shape));
      });
  }

 private:
  int64_t Find(int64_t leaf) {
    while (class_[leaf] != leaf) leaf = class_[leaf] = class_[class_[leaf]];
    return leaf;
  }

  LeafRange All(const Instruction& i) const {
    return {first_.at(i.id()), first_.at(i.id()) + NumLeaves(i.shape())};
  }
  // Element `index` of a tuple's leaves.
  static LeafRange Element(LeafRange whole, const Shape& tuple, int64_t index) {
    whole.begin += LeafOffset(tuple, index);
    return {whole.begin, whole.begin + NumLeaves(tuple.elements[index])};
  }
  void Join(LeafRange a, LeafRange b) {
    for (int64_t k = 0; a.begin + k < a.end && b.begin + k < b.end; ++k)
      class_[Find(a.begin + k)] = Find(b.begin + k);
  }
  void Pin(LeafRange range) {
    for (int64_t leaf = range.begin; leaf < range.end; ++leaf) pinned_[leaf] = true;
  }
  void PinAll(const Instruction& i) {
    Pin(All(i));
    for (const Instruction* operand : i.operands()) Pin(All(*operand));
  }

  // The arguments from operand `first` on are the parameters of `called`, its root is `result`.
  void JoinCall(const Instruction& i, const Computation& called, int64_t first, LeafRange result) {
    for (int64_t p = 0; p < called.parameter_count() && first + p < i.operand_count(); ++p)
      Join(All(*i.operand(first + p)), All(*called.parameter(p)));
    Join(All(*called.root()), result);
  }

  void Visit(const Instruction& i);
  void VisitAsync(const Instruction& i);

  Module& module_;
  const bool mixed_;
  DenseMap<int64_t> first_;     // by instruction: its first leaf
  std::vector<int64_t> class_;  // union-find over leaves
  std::vector<bool> pinned_;
};

void LayoutClasses::VisitAsync(const Instruction& i) {
  if (i.opcode() == Opcode::kAsyncUpdate) return Join(All(*i.operand(0)), All(i));
  if (i.opcode() == Opcode::kAsyncDone)
    return Join(Element(All(*i.operand(0)), i.operand(0)->shape(), 1), All(i));
  LeafRange arguments = Element(All(i), i.shape(), 0);
  for (const Instruction* operand : i.operands()) {
    const LeafRange own = All(*operand);
    Join(own, arguments);
    arguments.begin += own.end - own.begin;
  }
  JoinCall(i, *i.called(0), 0, Element(All(i), i.shape(), 1));
}

void LayoutClasses::Visit(const Instruction& i) {
  const bool joins = !mixed_ || (i.opcode() != Opcode::kCall && i.opcode() != Opcode::kWhile &&
                                 i.opcode() != Opcode::kConditional);
  if (!joins) return;
  switch (i.opcode()) {
    case Opcode::kTuple:
      for (int64_t k = 0; k < i.operand_count(); ++k)
        Join(All(*i.operand(k)), Element(All(i), i.shape(), k));
      return;
    case Opcode::kGetTupleElement:
      return Join(Element(All(*i.operand(0)), i.operand(0)->shape(), i.tuple_index()), All(i));
    case Opcode::kOptimizationBarrier:
    case Opcode::kAddDependency:
    case Opcode::kDomain:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kScatter:
      return Join(All(*i.operand(0)), All(i));
    case Opcode::kCall:
    case Opcode::kFusion:
      return JoinCall(i, *i.called(0), 0, All(i));
    case Opcode::kWhile:
      Join(All(*i.operand(0)), All(*i.called(0)->parameter(0)));
      Join(All(*i.operand(0)), All(i));
      return JoinCall(i, *i.called(1), 0, All(i));
    case Opcode::kConditional:
      for (int64_t branch = 0; branch < static_cast<int64_t>(i.called().size()); ++branch)
        JoinCall(i, *i.called(branch), branch + 1, All(i));
      return;
    case Opcode::kCopyStart:
      return Join(All(*i.operand(0)), Element(All(i), i.shape(), 1));
    case Opcode::kCopyDone:
      return Join(Element(All(*i.operand(0)), i.operand(0)->shape(), 0), All(i));
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
      return VisitAsync(i);
    case Opcode::kBitcast:
    case Opcode::kCustomCall:
      return PinAll(i);
    default:
      break;
  }
  constexpr Trait kPinned[] = {kSideEffect, kCollective, kAsyncStart, kAsyncDone};
  for (const Trait trait : kPinned)
    if (HasTrait(i.opcode(), trait)) PinAll(i);
}

Layout AnyOrder(Random& random, const Shape& array) {
  Layout layout = Layout::Default(array.rank());
  if (random.Chance(0.6)) random.Shuffle(layout.minor_to_major);
  return layout;
}

using Tile = absl::InlinedVector<int64_t, 2>;

// Tiles as a TPU's dumps have them: of 8 or fewer rows of 128, of which narrow types pack several;
// of vectors, the elements of one or several registers.
std::vector<Tile> TilesOf(Random& random, const Shape& array) {
  const int64_t bits = BitWidth(array.type);
  if (array.rank() == 0) return random.Chance(0.5) ? std::vector<Tile>{{128}} : std::vector<Tile>();
  if (array.rank() == 1) return {{random.OneOf({128, 256, 512, 1024})}};
  std::vector<Tile> tiles = {{random.OneOf({8, 8, 8, 4, 2, 1}), 128}};
  if (bits < 32 && random.Chance(0.8)) tiles.push_back({32 / std::max<int64_t>(bits, 4), 1});
  return tiles;
}

Layout TiledOrder(Random& random, const Shape& array) {
  Layout layout = AnyOrder(random, array);
  LayoutExtras extras;
  if (random.Chance(0.8)) extras.tiles = TilesOf(random, array);
  if (random.Chance(0.2)) extras.memory_space = 1;
  if (BitWidth(array.type) < 8) extras.element_size_in_bits = BitWidth(array.type);
  if (random.Chance(0.05)) extras.tail_padding_alignment = random.OneOf({128, 1024});
  if (!(extras == LayoutExtras()))
    layout.extras = std::make_shared<const LayoutExtras>(std::move(extras));
  return layout;
}

}  // namespace

void TileLayouts(Module& module, Random& random) {
  LayoutClasses(module).Assign([&](const Shape& array) { return TiledOrder(random, array); });
}

void PermuteLayouts(Module& module, Random& random) {
  LayoutClasses(module).Assign([&](const Shape& array) { return AnyOrder(random, array); });
}

void MixLayouts(Module& module, Random& random) {
  LayoutClasses(module, /*mixed=*/true).Assign([&](const Shape& array) {
    return AnyOrder(random, array);
  });
}

void StateEntryLayout(Module& module, Random& random) {
  if (random.Chance(0.3)) return;
  const auto other = [&](Shape shape) {
    ForEachLeaf(shape, [&](Shape& array) {
      if (!array.IsArray()) return;
      array.has_layout = true;
      array.layout = AnyOrder(random, array);
    });
    return shape;
  };
  EntryLayout stated;
  for (const Instruction* parameter : module.entry()->parameters())
    stated.parameters.push_back(other(parameter->shape()));
  stated.result = other(module.entry()->root()->shape());
  module.header().entry_layout = std::move(stated);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
