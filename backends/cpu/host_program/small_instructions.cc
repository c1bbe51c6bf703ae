// Instructions with small results (up to 8 elements, matrices up to 4 x 4), computed element by
// element into registers, without a loop or a kernel. Their stores are dropped afterwards where
// nothing reads the memory (DropUnreadStores). Limits: kMaxWork operations, kMaxCode emitted steps.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "analysis/emittable.h"
#include "analysis/in_place.h"
#include "backends/cpu/host_program/module_emitter_internal.h"
#include "codegen/accumulators.h"
#include "codegen/expression.h"
#include "codegen/kernel_strategies.h"
#include "codegen/op_cost.h"
#include "ir/op_facts.h"
#include "ops/dim_lists.h"

namespace hlokit {
namespace {

constexpr double kMaxWork = 256;  // in simple float operations
constexpr size_t kMaxCode = 200;  // steps, times elements
// As many simple operations, with all that the elements' sums take, are written out at most: code
// of more takes longer to compile than a kernel with its loop.
constexpr int64_t kMaxWrittenOut = 160;
// Of a loop, in simple operations.
constexpr int64_t kLoopCode = 30;

// One index vector, with a window of one element along what it indexes, into one array.
bool IsOneIndexScatter(const Instruction& i) {
  if (i.opcode() != Opcode::kScatter || i.operand_count() != 3 || !CanEmitScatter(i)) return false;
  const auto& attrs = i.attr<ScatterAttrs>();
  const Shape& indices = i.operand(1)->shape();
  const auto count = static_cast<int64_t>(attrs.scatter_dims_to_operand_dims.size());
  // Index vectors of no components take no room, however many there are.
  if (count == 0 || indices.ElementCount() != count || !attrs.input_batching_dims.empty())
    return false;
  return std::all_of(attrs.scatter_dims_to_operand_dims.begin(),
                     attrs.scatter_dims_to_operand_dims.end(),
                     [&](int64_t d) { return Contains(attrs.inserted_window_dims, d); });
}

// Element `at` of such a scatter: the update's where the index is this one, else the old one.
ScalarValue EmitScatterElement(ElementEmitter& emitter, const Instruction& i,
                               const std::vector<llvm::Value*>& at) {
  Builder& b = emitter.builder();
  const auto& attrs = i.attr<ScatterAttrs>();
  const Instruction* indices = i.operand(1);
  llvm::Value* here = b.getTrue();
  for (size_t k = 0; k < attrs.scatter_dims_to_operand_dims.size(); ++k) {
    std::vector<llvm::Value*> place(indices->shape().rank(), b.getInt64(0));
    if (attrs.index_vector_dim < indices->shape().rank())
      place[attrs.index_vector_dim] = b.getInt64(static_cast<int64_t>(k));
    llvm::Value* index = emitter.Emit(indices, ElementIndex::Multi(place)).re;
    index = IsSigned(indices->shape().type) ? b.CreateSExt(index, b.getInt64Ty())
                                            : b.CreateZExt(index, b.getInt64Ty());
    here = b.CreateAnd(here, b.CreateICmpEQ(index, at[attrs.scatter_dims_to_operand_dims[k]]));
  }
  std::vector<llvm::Value*> from(i.operand(2)->shape().rank(), b.getInt64(0));
  size_t next = 0;
  for (size_t d = 0; d < at.size(); ++d)
    if (!Contains(attrs.inserted_window_dims, static_cast<int64_t>(d)))
      from[attrs.update_window_dims[next++]] = at[d];
  const ScalarValue old = emitter.Emit(i.operand(0), ElementIndex::Multi(at));
  const ScalarValue update = emitter.Emit(i.operand(2), ElementIndex::Multi(from));
  return EmitSelect(b, {here}, emitter.Apply(*i.to_apply(), {old, update})[0], old);
}

// How many elements of its operand a written-out sum takes for one of its own; 1 of what is a loop,
// whose body stands there once, and of what is no sum.
int64_t StepsWrittenOut(const Instruction& i) {
  if (i.opcode() != Opcode::kReduce) return 1;
  int64_t steps = 1;
  for (int64_t d : i.attr<DimensionsAttrs>().dimensions) {
    const int64_t size = i.operand(0)->shape().dims[d];
    if (size <= kMaxSteps) steps *= size;
  }
  return steps;
}

// Code of functions is longer than that of other operations.
int64_t CodeOf(const Instruction& i) {
  const int64_t function = FunctionCost(Facts(i.opcode()).cost);
  return function > 0 ? function : i.operand_count() == 0 ? 0 : 1;
}

// The code of all elements. f32[7,5] -> f32[7], sums of exponentials: 35 of these. No element is
// computed twice, however often it is asked for.
int64_t CodeWrittenOut(const Expression& e) {
  const std::vector<const Instruction*> body = Body(e);
  absl::flat_hash_map<const Instruction*, int64_t> times;
  for (size_t r = 0; r < e.roots.size(); ++r) times[e.roots[r]] = e.shapes[r].ElementCount();
  int64_t code = 0;
  for (size_t k = body.size(); k-- > 0;) {
    const Instruction& i = *body[k];
    const int64_t asked = times[&i];
    code += asked * CodeOf(i);
    for (const Instruction* operand : i.operands()) {
      int64_t& count = times[operand];
      count += asked * StepsWrittenOut(i);
      if (operand->shape().IsArray()) count = std::min(count, operand->shape().ElementCount());
    }
  }
  return code;
}

bool IsSmallExpression(const Expression& e) {
  int64_t elements = 0;
  for (size_t r = 0; r < e.roots.size(); ++r) {
    if (!SmallValues::IsSmall(e.shapes[r]) || !e.shapes[r].IsRowMajor() ||
        !(CanEmitElement(*e.roots[r]) || IsOneIndexScatter(*e.subject)))
      return false;
    elements += e.shapes[r].ElementCount();
  }
  return !e.roots.empty() && ElementCost(e) * static_cast<double>(elements) <= kMaxWork &&
         Body(e).size() * static_cast<size_t>(elements) <= kMaxCode &&
         CodeWrittenOut(e) <= kMaxWrittenOut;
}

llvm::StoreInst* LastStore(Builder& b) {
  llvm::BasicBlock* block = b.GetInsertBlock();
  return block->empty() ? nullptr : llvm::dyn_cast<llvm::StoreInst>(&block->back());
}

// All elements as one vector: what reads them, as a vector or one by one, gets them from the store
// buffer, as it would not get a vector from stores of its parts.
llvm::StoreInst* StoreTogether(Builder& b, const SmallValues::Elements& elements,
                               const ArrayRef& array) {
  const auto count = static_cast<unsigned>(elements.size());
  llvm::Value* all =
      llvm::PoisonValue::get(llvm::FixedVectorType::get(elements[0].re->getType(), count));
  for (unsigned k = 0; k < count; ++k) all = b.CreateInsertElement(all, elements[k].re, k);
  const auto bytes = static_cast<uint64_t>(BitWidth(array.shape.type)) / 8;
  return b.CreateAlignedStore(all, array.base, llvm::Align(bytes));
}

}  // namespace

bool IsSmallInstruction(const Instruction& i) { return IsSmallExpression(Expression::Of(&i)); }

int64_t RoughCode(const Instruction& i) {
  const Expression e = Expression::Of(&i);
  if (IsSmallExpression(e)) return CodeWrittenOut(e);
  double elements = 0;
  for (const Shape& shape : e.shapes) elements += static_cast<double>(shape.ElementCount());
  if (ElementCost(e) * elements > kInlineWork) return 0;
  return kLoopCode + 4 * static_cast<int64_t>(Body(e).size());
}

bool ModuleEmitter::EmitSmall(Frame& f, const Instruction& i, const Instruction** unsupported) {
  const Expression e = Expression::Of(&i);
  if (!IsSmallExpression(e)) return false;
  const CodeCount count(piece_code_, *f.function);
  InlineArrays arrays(*this, f, i);
  ElementEmitter emitter(f.b);
  const bool scatter = IsOneIndexScatter(i);
  emitter.set_excess(!scatter);
  emitter.set_unroll(true);
  BindLeaves(emitter, e, arrays);
  std::vector<SmallValues::Elements> results(e.roots.size());
  for (size_t r = 0; r < e.roots.size(); ++r) {
    for (int64_t k = 0; k < e.shapes[r].ElementCount(); ++k) {
      const ElementIndex index = ElementIndex::Multi(ConstantIndex(f.b, e.shapes[r], k));
      results[r].push_back(scatter ? EmitScatterElement(emitter, i, index.multi)
                                   : emitter.EmitRounded(e.roots[r], index, e.root_leaves[r]));
    }
  }
  for (size_t r = 0; r < results.size(); ++r) {
    const auto leaf = static_cast<int64_t>(r);
    StoreElements(f, buffers_.slice(&i, leaf), e.shapes[r], results[r]);
    f.values.Set(&i, leaf, std::move(results[r]));
  }
  *unsupported = arrays.unsupported;
  return true;
}

SmallValues::Elements ModuleEmitter::ElementsOf(Frame& f, const Instruction* i, int64_t leaf) {
  if (auto known = f.values.Find(f.b, i, leaf); known.has_value()) return *std::move(known);
  return LoadElements(f, buffers_.slice(i, leaf), LeafShape(i->shape(), leaf));
}

SmallValues::Elements ModuleEmitter::LoadElements(Frame& f, const Slice& slice,
                                                  const Shape& shape) {
  const ArrayRef array = {Pointer(f, slice), shape};
  SmallValues::Elements elements;
  for (int64_t k = 0; k < shape.ElementCount(); ++k)
    elements.push_back(LoadFrom(f.b, array, ElementIndex::Linear(f.b.getInt64(k))));
  return elements;
}

void ModuleEmitter::StoreElements(Frame& f, const Slice& slice, const Shape& shape,
                                  const SmallValues::Elements& elements) {
  if (slice.kind == Slice::Kind::kNone) return;
  const ArrayRef array = {PointerForStore(f, slice), shape};
  if (elements.size() > 1 && !IsComplex(shape.type) && BitWidth(shape.type) >= 32) {
    llvm::StoreInst* store = StoreTogether(f.b, elements, array);
    if (slice.kind == Slice::Kind::kArena) small_stores_.push_back({store, slice});
    return;
  }
  for (size_t k = 0; k < elements.size(); ++k) {
    StoreTo(f.b, array, ElementIndex::Linear(f.b.getInt64(k)), elements[k]);
    llvm::StoreInst* store = LastStore(f.b);
    if (slice.kind == Slice::Kind::kArena && !IsComplex(shape.type) && store != nullptr)
      small_stores_.push_back({store, slice});
  }
}

// What is in registers is stored all the same, for whatever may read memory; now it is known what
// does. A buffer is read where it was written: others in the same place are of other times.
void ModuleEmitter::DropUnreadStores() {
  for (const auto& [store, slice] : small_stores_)
    if (!used_.contains({slice.offset, slice.size})) store->eraseFromParent();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
