// Reductions that keep the fastest dimension: a tile of kTile accumulators, contiguous in memory,
// to which rows are added one after the other.
//   f32[1000,512] -> f32[512]: for each tile of 256 columns, for each row:
//     acc[0..255] += x[row][0..255]
// Accumulators stay in the first-level cache, and the loop over columns vectorizes. kRowsTogether
// rows are added per pass, so that each accumulator is loaded and stored once per four rows.
#include <algorithm>

#include "analysis/in_place.h"
#include "backends/cpu/kernels/strategies_internal.h"
#include "codegen/running_reduction.h"
#include "ops/dim_lists.h"
#include "ops/evaluate/reducer.h"

namespace hlokit {
namespace {

// Accumulators of one tile; a few cache lines of each type.
constexpr int64_t kTile = 256;
// Rows added to a tile while its values are in registers.
constexpr int64_t kRowsTogether = 4;
// Instructions that are not worth being written several times.
constexpr size_t kLongBody = 16;

const Shape& FirstPart(const Instruction* i) {
  return i->shape().IsTuple() ? i->shape().elements[0] : i->shape();
}

bool IsLeaf(const Expression& e, const Instruction* i) {
  return std::any_of(e.leaves.begin(), e.leaves.end(),
                     [i](const auto& leaf) { return leaf.instruction == i; });
}

// The reductions under the roots, if all have one form and everything above them is pointwise in
// their result's shape; empty if not.
std::vector<const Instruction*> Heroes(const Expression& e) {
  std::vector<const Instruction*> heroes;
  std::vector<const Instruction*> work(e.roots.begin(), e.roots.end());
  std::vector<const Instruction*> seen;
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (std::find(seen.begin(), seen.end(), i) != seen.end()) continue;
    seen.push_back(i);
    if (seen.size() > 64) return {};
    if (i->opcode() == Opcode::kReduce && !IsLeaf(e, i)) {
      heroes.push_back(i);
      continue;
    }
    if (IsLeaf(e, i) || (i->IsConstant() && i->shape().IsScalar())) continue;
    if (i->opcode() == Opcode::kGetTupleElement) {
      work.push_back(i->operand(0));
      continue;
    }
    if (i->opcode() == Opcode::kBroadcast && i->operand(0)->shape().IsScalar() &&
        i->operand(0)->IsConstant())
      continue;
    if (!HasTrait(i->opcode(), kElementwise)) return {};
    for (const Instruction* operand : i->operands()) work.push_back(operand);
  }
  if (heroes.empty()) return {};
  const Instruction* first = heroes[0];
  for (const Instruction* h : heroes) {
    if (h->attr<DimensionsAttrs>().dimensions != first->attr<DimensionsAttrs>().dimensions)
      return {};
    if (h->operand(0)->shape().dims != first->operand(0)->shape().dims ||
        h->operand(0)->shape().MinorToMajor() != first->operand(0)->shape().MinorToMajor())
      return {};
  }
  return heroes;
}

struct ColumnForm {
  std::vector<const Instruction*> heroes;
  Shape from;                              // the reduced array
  Shape result;                            // shape of all roots
  DimVector reduced;                       // dimensions of `from`, slowest first
  int64_t fast_from = 0, fast_result = 0;  // the kept fastest dimension in both numberings
};

bool FindForm(const Expression& e, ColumnForm& form) {
  form.heroes = Heroes(e);
  if (form.heroes.empty()) return false;
  const Instruction* hero = form.heroes[0];
  form.from = hero->operand(0)->shape();
  form.result = e.shapes[0];
  for (const Shape& s : e.shapes)
    if (s.dims != FirstPart(hero).dims || s.MinorToMajor() != form.result.MinorToMajor())
      return false;
  const DimVector& reduced = hero->attr<DimensionsAttrs>().dimensions;
  if (reduced.empty()) return false;  // gives its operands, whatever the initial value
  form.fast_from = -1;
  for (int64_t d : form.from.MinorToMajor()) {
    if (Contains(reduced, d)) {
      if (form.fast_from < 0 && form.from.dims[d] > 1) return false;
      form.reduced.insert(form.reduced.begin(), d);
    } else if (form.fast_from < 0 && form.from.dims[d] > 1) {
      form.fast_from = d;
    }
  }
  if (form.fast_from < 0 || form.from.dims[form.fast_from] < 8) return false;
  form.fast_result = form.fast_from;
  for (int64_t d : reduced) form.fast_result -= d < form.fast_from;
  for (int64_t d : form.result.MinorToMajor()) {
    if (form.result.dims[d] == 1) continue;
    return d == form.fast_result && form.from.ElementCount() > 0;
  }
  return false;
}

class ColumnReduce {
 public:
  ColumnReduce(const Expression& e, const ColumnForm& form, Builder& b, KernelArrays& arrays)
      : e_(e), form_(form), b_(b), arrays_(arrays) {
    for (const Instruction* hero : form_.heroes)
      for (int64_t k = 0; k < hero->operand_count() / 2; ++k)
        parts_.push_back({hero, k, nullptr, nullptr});
    llvm::IRBuilder<>::InsertPointGuard guard(b_);
    llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
    b_.SetInsertPoint(&entry, entry.begin());
    for (Part& p : parts_) {
      const ElementType type = Running(p);
      llvm::Type* memory = MemoryType(b_.getContext(), RealComponent(type));
      p.tile = b_.CreateAlloca(memory, b_.getInt64(kTile * (IsComplex(type) ? 2 : 1)));
    }
  }

  // Unit: one tile of one row of results. `outer` numbers the rows, `tile` the tiles in it.
  void EmitUnit(const std::vector<llvm::Value*>& result_index, llvm::Value* tile) {
    const int64_t width = form_.result.dims[form_.fast_result];
    llvm::Value* first = b_.CreateNSWMul(tile, b_.getInt64(kTile));
    llvm::Value* count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.getInt64(kTile),
                                                  b_.CreateNSWSub(b_.getInt64(width), first));
    if (width % kTile == 0) count = b_.getInt64(kTile);
    ElementEmitter emitter(b_);
    emitter.set_excess(true);
    BindLeaves(emitter, e_, arrays_);
    for (Part& p : parts_)
      p.init =
          emitter.Emit(p.hero->operand(p.hero->operand_count() / 2 + p.k), ElementIndex::Multi({}));
    EmitLoop(b_, b_.getInt64(0), count, [&](llvm::Value* j) {
      for (Part& p : parts_) StoreElement(b_, Running(p), p.init, At(p, j));
    });
    std::vector<llvm::Value*> from_index(form_.from.rank());
    const DimVector& reduced = form_.heroes[0]->attr<DimensionsAttrs>().dimensions;
    for (int64_t d = 0, kept = 0; d < form_.from.rank(); ++d)
      if (!Contains(reduced, d)) from_index[d] = result_index[kept++];
    Accumulate(emitter, 0, from_index, first, count);
    Finish(emitter, result_index, first, count);
  }

 private:
  struct Part {
    const Instruction* hero;
    int64_t k;
    llvm::Value* tile;
    ScalarValue init;
    Part(const Instruction* h, int64_t n, llvm::Value* t, std::nullptr_t)
        : hero(h), k(n), tile(t) {}
  };

  static const Shape& PartShape(const Part& p) {
    return p.hero->shape().IsTuple() ? p.hero->shape().elements[p.k] : p.hero->shape();
  }
  // Narrow floats run as f32.
  static ElementType Running(const Part& p) {
    const ElementType t = PartShape(p).type;
    return IsFloat(t) && t != ElementType::kF64 ? ElementType::kF32 : t;
  }
  llvm::Value* At(const Part& p, llvm::Value* j) {
    const ElementType type = Running(p);
    return b_.CreateInBoundsGEP(MemoryType(b_.getContext(), RealComponent(type)), p.tile,
                                Scale(b_, j, IsComplex(type) ? 2 : 1));
  }

  void Accumulate(ElementEmitter& emitter, size_t level, std::vector<llvm::Value*>& from,
                  llvm::Value* first, llvm::Value* count) {
    const int64_t d = form_.reduced[level], size = form_.from.dims[d];
    if (level + 1 < form_.reduced.size()) {
      EmitLoop(b_, size, [&](llvm::Value* at) {
        from[d] = at;
        emitter.BeginScope();
        Accumulate(emitter, level + 1, from, first, count);
        emitter.EndScope();
      });
      return;
    }
    const int64_t together = Body(e_).size() > kLongBody ? 1 : kRowsTogether;
    EmitLoop(b_, size / together, [&](llvm::Value* block) {
      AddRows(emitter, from, Scale(b_, block, together), together, first, count);
    });
    if (const int64_t rest = size % together; rest > 0)
      AddRows(emitter, from, b_.getInt64(size - rest), rest, first, count);
  }

  // Adds rows `row` .. `row` + rows - 1 of the last reduced dimension, in order, to the tile, which
  // is read and written once for all of them.
  void AddRows(ElementEmitter& emitter, std::vector<llvm::Value*>& from, llvm::Value* row,
               int64_t rows, llvm::Value* first, llvm::Value* count) {
    EmitLoop(b_, b_.getInt64(0), count, [&](llvm::Value* j) {
      emitter.BeginScope();
      from[form_.fast_from] = b_.CreateNSWAdd(first, j);
      std::vector<ScalarValue> running;
      for (const Part& p : parts_) running.push_back(LoadElement(b_, Running(p), At(p, j)));
      for (int64_t k = 0; k < rows; ++k) {
        from[form_.reduced.back()] = b_.CreateNSWAdd(row, b_.getInt64(k));
        running = Next(emitter, ElementIndex::Multi(from), running);
      }
      for (size_t p = 0; p < parts_.size(); ++p)
        StoreElement(b_, Running(parts_[p]), running[p], At(parts_[p], j));
      emitter.EndScope();
    });
  }

  // The accumulators of all reductions after the elements at `index`.
  std::vector<ScalarValue> Next(ElementEmitter& emitter, const ElementIndex& index,
                                const std::vector<ScalarValue>& running) {
    std::vector<ScalarValue> next;
    for (const Instruction* hero : form_.heroes) {
      const int64_t n = hero->operand_count() / 2;
      std::vector<ScalarValue> arguments(running.begin() + next.size(),
                                         running.begin() + next.size() + n);
      const bool rounds_steps = RoundsSteps(*hero);
      for (int64_t k = 0; k < n; ++k)
        arguments.push_back(rounds_steps ? emitter.EmitTaken(hero->operand(k), index)
                                         : emitter.Emit(hero->operand(k), index));
      const std::vector<ScalarValue> values = EmitReductionStep(emitter, *hero, arguments);
      next.insert(next.end(), values.begin(), values.end());
    }
    return next;
  }

  // The roots, with each reduction's value taken from its tile.
  void Finish(ElementEmitter& emitter, std::vector<llvm::Value*> result_index, llvm::Value* first,
              llvm::Value* count) {
    llvm::Value* at = nullptr;
    for (const Instruction* hero : form_.heroes) {
      emitter.BindParts(hero, [this, hero, &at, &emitter](const ElementIndex&) {
        std::vector<ScalarValue> values;
        for (Part& p : parts_) {
          if (p.hero != hero) continue;
          ScalarValue v = LoadElement(b_, Running(p), At(p, at));
          v = EmitConvert(b_, Running(p), emitter.TypeOf(PartShape(p)), v);
          values.push_back(v);
        }
        return values;
      });
    }
    EmitLoop(b_, b_.getInt64(0), count, [&](llvm::Value* j) {
      emitter.BeginScope();
      at = j;
      result_index[form_.fast_result] = b_.CreateNSWAdd(first, j);
      const ElementIndex index = ElementIndex::Multi(result_index);
      std::vector<ScalarValue> values;
      for (size_t r = 0; r < e_.roots.size(); ++r)
        values.push_back(emitter.EmitRounded(e_.roots[r], index, e_.root_leaves[r]));
      for (size_t r = 0; r < e_.roots.size(); ++r) StoreTo(b_, arrays_.result(r), index, values[r]);
      emitter.EndScope();
    });
  }

  const Expression& e_;
  const ColumnForm& form_;
  Builder& b_;
  KernelArrays& arrays_;
  std::vector<Part> parts_;
};

}  // namespace

bool AddColumnReduceKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  ColumnForm form;
  if (!FindForm(e, form)) return false;
  Shape rows = form.result;  // all dimensions but the fastest, as units
  const int64_t width = rows.dims[form.fast_result];
  const int64_t tiles = (width + kTile - 1) / kTile;
  rows.dims[form.fast_result] = 1;
  Kernel kernel;
  kernel.units = rows.ElementCount() * tiles;
  kernel.unit_cost = ElementCost(e) * static_cast<double>(std::min(width, kTile));
  kernel.emit = [e, form, rows, tiles](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                                       llvm::Value* end) {
    ColumnReduce reduce(e, form, b, arrays);
    EmitLoop(b, begin, end, [&](llvm::Value* unit) {
      llvm::Value* row = tiles == 1 ? unit : b.CreateUDiv(unit, b.getInt64(tiles));
      llvm::Value* tile = tiles == 1 ? b.getInt64(0) : b.CreateURem(unit, b.getInt64(tiles));
      reduce.EmitUnit(WithMulti(b, ElementIndex::Linear(row), rows).multi, tile);
    });
  };
  if (kernel.units > 0) out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
