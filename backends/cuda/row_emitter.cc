// Rows: passes over the elements of a lane, combinations of lanes, results.
#include "backends/cuda/row_emitter_internal.h"

namespace hlokit {

GroupRowEmitter::GroupRowEmitter(const GroupRows& plan, ElementEmitter& emitter, llvm::Value* lane,
                                 llvm::Value* row, llvm::Value* stores, llvm::Value* part)
    : plan_(plan),
      form_(plan.form),
      emitter_(emitter),
      b_(emitter.builder()),
      group_(b_, plan.threads, lane),
      row_(row),
      stores_(stores),
      part_(part) {
  multi_.assign(static_cast<size_t>(form_.full.rank()), b_.Index(0));
  Delinearize(b_, row_, form_.kept, form_.full.dims, multi_);
  if (plan.kept) PlaceVectors();
}

void GroupRowEmitter::Emit() {
  for (int pass = 0; pass < form_.passes; ++pass) EmitPass(pass);
  StoreRowRoots();
}

ElementIndex GroupRowEmitter::IndexOf(llvm::Value* at) {
  Delinearize(b_, at, form_.within, form_.full.dims, multi_);
  if (!form_.IsContiguous()) return ElementIndex::Multi(multi_);
  return ElementIndex::Multi(multi_, b_.CreateNSWAdd(Scale(b_, row_, form_.length), at));
}

void GroupRowEmitter::PlaceInPart(int64_t k) {
  llvm::Value* const number = b_.CreateNSWAdd(b_.Index(k * plan_.threads), group_.lane());
  llvm::Value* first = b_.CreateNSWAdd(part_, Scale(b_, number, plan_.vector));
  Vector& vector = vectors_.emplace_back();
  if (form_.length % plan_.part != 0) {
    vector.inside = b_.CreateICmpULT(first, b_.Index(form_.length));
    first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, first,
                                     b_.Index(form_.length - plan_.vector));
  }
  vector.places = PlacesFrom(first);
}

void GroupRowEmitter::PlaceVectors() {
  const int64_t vectors = form_.length / plan_.vector;
  for (int64_t k = 0; k < plan_.LaneVectors(); ++k) {
    if (part_ != nullptr) {
      PlaceInPart(k);
      continue;
    }
    llvm::Value* number = b_.CreateNSWAdd(b_.Index(k * plan_.threads), group_.lane());
    Vector& vector = vectors_.emplace_back();
    if ((k + 1) * plan_.threads > vectors) {
      vector.inside = b_.CreateICmpULT(number, b_.Index(vectors));
      number = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, number, b_.Index(vectors - 1));
    }
    vector.places = PlacesFrom(Scale(b_, number, plan_.vector));
  }
}

Values GroupRowEmitter::EmitKept(const std::vector<Accumulators>& reductions, bool stores) {
  Values values = Begin(reductions);
  for (const Vector& vector : vectors_) {
    Values next = Reduce(vector.places, reductions, values);
    for (size_t k = 0; k < next.size() && vector.inside != nullptr; ++k)
      next[k] = b_.CreateSelect(vector.inside, next[k], values[k]);
    values = std::move(next);
    if (stores) StoreFullRoots(vector.places, vector.inside);
  }
  return values;
}

void GroupRowEmitter::EmitPass(int pass) {
  std::vector<Accumulators> reductions;
  for (const RowForm::Reduction& r : form_.reductions)
    if (r.pass == pass) reductions.emplace_back(*r.reduce, emitter_);
  const bool stores = pass + 1 == form_.passes && !plan_.full_roots.empty();
  if (reductions.empty() && !stores) return;
  if (stores) BeginStores();
  for (Accumulators& r : reductions) r.KeepOrder();
  Values partial = plan_.kept ? EmitKept(reductions, stores) : EmitElements(reductions, stores);
  if (plan_.threads > 1)
    for (size_t k = 0; k < reductions.size(); ++k)
      partial[k] = group_.Combine(
          partial[k], [&](llvm::Value* x, llvm::Value* y) { return reductions[k].Combine(x, y); });
  for (size_t k = 0; k < reductions.size(); ++k) partial[k] = Carry(reductions[k], partial[k]);
  size_t used = 0;
  for (const Accumulators& r : reductions) {
    const std::vector<ScalarValue> parts = r.Results(partial, used);
    emitter_.BindParts(&r.reduce(), [parts](const ElementIndex&) { return parts; });
  }
}

Values GroupRowEmitter::Begin(const std::vector<Accumulators>& reductions) {
  Values initial;
  for (const Accumulators& r : reductions) r.AppendInitial(initial);
  if (plan_.threads == 1) return initial;
  llvm::Value* first = b_.CreateICmpEQ(group_.lane(), b_.Index(0));
  if (part_ != nullptr) first = b_.CreateAnd(first, b_.CreateICmpEQ(part_, b_.Index(0)));
  for (size_t k = 0; k < reductions.size(); ++k)
    initial[k] =
        b_.CreateSelect(first, initial[k], IdentityOf(reductions[k], initial[k]->getType()));
  return initial;
}

Values GroupRowEmitter::EmitElements(const std::vector<Accumulators>& reductions, bool stores) {
  const int64_t threads = plan_.threads, vectors = form_.length / plan_.vector;
  llvm::Value* steps = b_.Index(vectors / threads);
  if (const int64_t rest = vectors % threads; rest > 0)
    steps = b_.CreateNSWAdd(
        steps, b_.CreateZExt(b_.CreateICmpULT(group_.lane(), b_.Index(rest)), b_.IndexType()));
  return EmitLoopCarrying(
      b_, b_.Index(0), steps, Begin(reductions), [&](llvm::Value* step, const Values& values) {
        emitter_.BeginScope();
        llvm::Value* const number = b_.CreateNSWAdd(Scale(b_, step, threads), group_.lane());
        const Values next = EmitVector(Scale(b_, number, plan_.vector), reductions, stores, values);
        emitter_.EndScope();
        return next;
      });
}

std::vector<ElementIndex> GroupRowEmitter::PlacesFrom(llvm::Value* first) {
  std::vector<ElementIndex> places;
  for (int64_t k = 0; k < plan_.vector; ++k)
    places.push_back(IndexOf(k == 0 ? first : b_.CreateNSWAdd(first, b_.Index(k))));
  return places;
}

Values GroupRowEmitter::Reduce(const std::vector<ElementIndex>& places,
                               const std::vector<Accumulators>& reductions, Values values) {
  for (const ElementIndex& place : places) {
    Values next;
    size_t used = 0;
    for (const Accumulators& r : reductions) r.AppendNext(place, values, used, next);
    values = std::move(next);
  }
  return values;
}

Values GroupRowEmitter::EmitVector(llvm::Value* first, const std::vector<Accumulators>& reductions,
                                   bool stores, const Values& values) {
  const std::vector<ElementIndex> places = PlacesFrom(first);
  Values next = Reduce(places, reductions, values);
  if (stores) StoreFullRoots(places, nullptr);
  return next;
}

ScalarValue GroupRowEmitter::RootAt(size_t r, const ElementIndex& index) {
  return emitter_.EmitRounded(plan_.e.roots[r], index, plan_.e.root_leaves[r]);
}

void GroupRowEmitter::StoreFullRoots(const std::vector<ElementIndex>& places, llvm::Value* inside) {
  std::vector<ScalarValue> values;  // all reads before any write
  for (const size_t r : plan_.full_roots)
    for (const ElementIndex& place : places) values.push_back(RootAt(r, place));
  EmitIf(b_, inside == nullptr ? stores_ : b_.CreateAnd(stores_, inside), [&] {
    size_t next = 0;
    for (const size_t r : plan_.full_roots)
      for (const ElementIndex& place : places) StoreElement(r, place, values[next++]);
  });
}

void GroupRowEmitter::StoreRowRoots() {
  if (plan_.row_roots.empty()) return;
  std::vector<ScalarValue> values;
  for (const size_t r : plan_.row_roots) values.push_back(RootAt(r, RowIndex(r)));
  group_.Meet();
  llvm::Value* const first = b_.CreateICmpEQ(group_.lane(), b_.Index(0));
  EmitIf(b_, b_.CreateAnd(stores_, first), [&] {
    for (size_t k = 0; k < values.size(); ++k) {
      const size_t r = plan_.row_roots[k];
      StoreElement(r, RowIndex(r), values[k]);
    }
  });
}

ElementIndex GroupRowEmitter::RowIndex(size_t r) {
  return WithMulti(b_, ElementIndex::Linear(row_), plan_.e.shapes[r]);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
