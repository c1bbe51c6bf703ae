// The work of one row by the threads of its group, as row_kernels.cc tells: what kernels of rows
// and of attention share.
#pragma once

#include "backends/cuda/row_plan_internal.h"
#include "backends/cuda/thread_group.h"

namespace hlokit {

// Emits the work of one thread of the group.
class GroupRowEmitter {
 public:
  // `emitter` gives the elements of the row's leaves; it and the plan outlive this. `lane`: of the
  // group's threads. `stores`: whether the thread's row is one. `part`: the first element of the
  // part of the row that is there, where the plan has parts (whole vectors of all lanes).
  GroupRowEmitter(const GroupRows& plan, ElementEmitter& emitter, llvm::Value* lane,
                  llvm::Value* row, llvm::Value* stores, llvm::Value* part = nullptr);
  virtual ~GroupRowEmitter() = default;

  void Emit();

 protected:
  Builder& builder() { return b_; }
  llvm::Value* row() const { return row_; }
  ThreadGroup& group() { return group_; }
  // Makes of what a part's elements give, with the initial value in the first part, what all parts
  // until then do.
  virtual llvm::Value* Carry(const Accumulators&, llvm::Value* partial) { return partial; }
  // Before the last pass, which stores the elements of rows.
  virtual void BeginStores() {}
  // Takes an element of result `r`.
  virtual void StoreElement(size_t r, const ElementIndex& index, const ScalarValue& value) = 0;

 private:
  struct Vector {
    std::vector<ElementIndex> places;
    llvm::Value* inside = nullptr;  // null: always
  };

  // The element at place `at` of the row.
  ElementIndex IndexOf(llvm::Value* at);

  // The lane's vector number `k` of the part.
  void PlaceInPart(int64_t k);
  // Where all of the lane's vectors are: the same index objects in every pass, by which the emitter
  // remembers values. Past the row's end the last vector is read again, and not used.
  void PlaceVectors();

  // One pass over the vectors in registers.
  Values EmitKept(const std::vector<Accumulators>& reductions, bool stores);

  void EmitPass(int pass);

  // The first lane begins with the initial values, the others with identity elements.
  Values Begin(const std::vector<Accumulators>& reductions);

  // The lane's vectors of the row: number `lane`, then every `threads`-th.
  Values EmitElements(const std::vector<Accumulators>& reductions, bool stores);

  // The neighbours from place `first` of the row on.
  std::vector<ElementIndex> PlacesFrom(llvm::Value* first);

  static Values Reduce(const std::vector<ElementIndex>& places,
                       const std::vector<Accumulators>& reductions, Values values);

  Values EmitVector(llvm::Value* first, const std::vector<Accumulators>& reductions, bool stores,
                    const Values& values);

  ScalarValue RootAt(size_t r, const ElementIndex& index);

  // `inside`: whether the row has these places; null where it has.
  void StoreFullRoots(const std::vector<ElementIndex>& places, llvm::Value* inside);

  // One lane stores, after all have read: a result may lie in an operand's place.
  void StoreRowRoots();

  ElementIndex RowIndex(size_t r);

  const GroupRows& plan_;
  const RowForm& form_;
  ElementEmitter& emitter_;
  Builder& b_;
  ThreadGroup group_;
  llvm::Value *const row_, *const stores_, *const part_;
  std::vector<llvm::Value*> multi_;  // of the element, in the full array
  std::vector<Vector> vectors_;      // of the lane, where they are kept
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
