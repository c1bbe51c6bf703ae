// Neighbours by one thread: r = x + y of f32[1024,1024], four elements a thread.
//
//   ld.global.v4.f32 x[4t .. 4t+3];  ld.global.v4.f32 y[...];  4 additions;  st.global.v4.f32
//   r[...]
//
// All elements are computed before any is stored, so that LLVM may join the loads to one of up to
// 16 bytes (a result may lie in an operand's place, which keeps loads and stores in order).
// Parameters of kernels are known to be aligned to 16 bytes (gpu_kernels.cc). A fourth of the
// threads computes its index, tests it and loads its parameters.
//
// Work that moves elements (slices, broadcasts, pads, concatenations) goes by dimensions: a thread
// has neighbours along the fastest one, r[i,j..j+3], and divides once for all of them,
//
//   r = slice(x) of f32[64,1000] from column 8 on:  i = t / 250;  j = t % 250 * 4;
//   ld.global.v4.f32 x[i*2000 + j + 8];  st.global.v4.f32 r[i*1000 + j]
//
// which are one load where their place is known to be a multiple of their number. A memory's
// latency times its bandwidth asks for more bytes at a time than threads of one element have.
//
// Limits: results of one shape and layout; the vector's length divides their number of elements, or
// that of the fastest dimension.
#include "backends/cuda/vector_kernels.h"

#include <algorithm>

#include "ir/attributes.h"
#include "types/element_type.h"

namespace hlokit {
namespace {

constexpr int64_t kVectorBytes = 16;
constexpr int64_t kMaxElements = 4, kMaxNarrow = 8;
// Elements of work that goes by dimensions: fewer leave multiprocessors without work.
constexpr int64_t kManyElements = 1 << 17;
// Of an element, in simple float operations: more is worth a thread of its own.
constexpr double kMuchWork = 64;

bool HasOneOrder(const Expression& e) {
  const Shape& first = e.shapes[0];
  for (const Shape& shape : e.shapes)
    if (shape.dims != first.dims || shape.MinorToMajor() != first.MinorToMajor()) return false;
  return true;
}

bool HasSameFastest(const Instruction& i) {
  const auto fastest = [](const Instruction& x) { return x.shape().MinorToMajor()[0]; };
  const Instruction& operand = *i.operand(0);
  if (operand.shape().rank() == 0 || operand.shape().rank() != i.shape().rank()) return true;
  if (i.opcode() == Opcode::kTranspose)
    return fastest(operand) == i.attr<DimensionsAttrs>().dimensions[fastest(i)];
  return fastest(operand) == fastest(i);
}

// Whether neighbours of the results are made of neighbours: nothing turns dimensions or has loops.
bool KeepsNeighbours(const Expression& e) {
  for (const Instruction* i : Body(e)) {
    if (i->operand_count() == 0) continue;
    if (HasTrait(i->opcode(), kCalls) || !i->shape().IsArray()) return false;
    if (!HasTrait(i->opcode(), kElementwise) && !HasTrait(i->opcode(), kMovesData)) return false;
    if (!HasSameFastest(*i)) return false;
  }
  return true;
}

int64_t FastestSize(const Shape& shape) {
  for (const int64_t d : shape.MinorToMajor())
    if (shape.dims[d] > 1) return shape.dims[d];
  return 1;
}

// The neighbours of one thread: places in memory, and where they are not all that is needed, along
// the fastest dimension.
std::vector<ElementIndex> Places(const Shape& shape, int64_t elements, bool linear, Builder& b,
                                 llvm::Value* unit) {
  llvm::Value* const first = Scale(b, unit, elements);
  std::vector<ElementIndex> places;
  std::vector<llvm::Value*> multi(static_cast<size_t>(shape.rank()), b.Index(0));
  DimVector order = shape.MinorToMajor();
  std::reverse(order.begin(), order.end());
  while (!linear && shape.dims[order.back()] == 1) order.pop_back();
  if (!linear) {
    DimVector dims = shape.dims;
    dims[order.back()] /= elements;
    Delinearize(b, unit, order, dims, multi);
    multi[order.back()] = Scale(b, multi[order.back()], elements);
  }
  for (int64_t k = 0; k < elements; ++k) {
    const auto next = [&](llvm::Value* x) { return k == 0 ? x : b.CreateNSWAdd(x, b.Index(k)); };
    if (linear) {
      places.push_back(ElementIndex::Linear(next(first)));
      continue;
    }
    std::vector<llvm::Value*> at = multi;
    at[order.back()] = next(at[order.back()]);
    places.push_back(ElementIndex::Multi(std::move(at), next(first)));
  }
  return places;
}

void EmitVector(const Expression& e, int64_t elements, bool linear, Builder& b,
                KernelArrays& arrays, llvm::Value* unit) {
  ElementEmitter emitter(b);
  emitter.set_excess(true);
  emitter.set_plain_nans(HasPlainNaNs(e));
  BindLeaves(emitter, e, arrays);
  const std::vector<ElementIndex> places = Places(e.shapes[0], elements, linear, b, unit);
  std::vector<ScalarValue> values;
  for (const ElementIndex& place : places)
    for (size_t r = 0; r < e.roots.size(); ++r)
      values.push_back(emitter.EmitRounded(e.roots[r], place, e.root_leaves[r]));
  for (size_t r = 0; r < e.roots.size(); ++r)
    for (size_t k = 0; k < places.size(); ++k)
      StoreTo(b, arrays.result(static_cast<int64_t>(r)), places[k], values[k * e.roots.size() + r]);
}

}  // namespace

int64_t VectorElements(const Expression& e, int64_t count) {
  // Arrays of a row or a column are read again and again, from a cache: they do not count.
  constexpr int64_t kFewer = 16;
  std::vector<const Shape*> arrays;
  for (const Shape& shape : e.shapes) arrays.push_back(&shape);
  for (const Expression::Leaf& leaf : e.leaves)
    if (leaf.instruction->shape().IsArray()) arrays.push_back(&leaf.instruction->shape());
  int64_t most = 0, width = 1;
  for (const Shape* const shape : arrays) most = std::max(most, shape->ElementCount());
  for (const Shape* const shape : arrays)
    if (shape->ElementCount() >= most / kFewer)
      width = std::max<int64_t>(width, ByteWidth(shape->type));
  int64_t elements = std::min(width == 2 ? kMaxNarrow : kMaxElements, kVectorBytes / width);
  while (elements > 1 && count % elements != 0) elements /= 2;
  return elements;
}

bool AddVectorPart(const Expression& e, const Instruction* part, int64_t dimension, int64_t start,
                   std::vector<Kernel>& out) {
  if (ElementCost(e) > kMuchWork || !KeepsNeighbours(e)) return false;
  Shape domain = part->shape();  // walked in the result's memory order
  domain.has_layout = e.shapes[0].has_layout;
  domain.layout = e.shapes[0].layout;
  const int64_t elements = VectorElements(e, FastestSize(domain));
  if (elements < 2) return false;
  Kernel kernel;
  kernel.units = domain.ElementCount() / elements;
  kernel.emit = [=](Builder& b, KernelArrays& arrays, llvm::Value* unit, llvm::Value*) {
    ElementEmitter emitter(b);
    BindLeaves(emitter, e, arrays);
    std::vector<ElementIndex> places;
    std::vector<ScalarValue> values;
    for (ElementIndex& place : Places(domain, elements, /*linear=*/false, b, unit)) {
      place.linear = nullptr;
      values.push_back(emitter.Emit(part, place));
      place.multi[dimension] = b.CreateNSWAdd(place.multi[dimension], b.Index(start));
      places.push_back(std::move(place));
    }
    for (size_t k = 0; k < places.size(); ++k)
      StoreTo(b, {arrays.result(0).base, e.shapes[0]}, places[k], values[k]);
  };
  out.push_back(std::move(kernel));
  return true;
}

bool AddVectorKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  if (!HasOneOrder(e) || !e.shapes[0].IsArray() || ElementCost(e) > kMuchWork) return false;
  const bool linear = IsLinear(e);
  const int64_t count = e.shapes[0].ElementCount();
  if (linear ? count < kSmallArray : count < kManyElements || !KeepsNeighbours(e)) return false;
  const int64_t elements = VectorElements(e, linear ? count : FastestSize(e.shapes[0]));
  if (elements < 2) return false;
  Kernel kernel;
  kernel.units = e.shapes[0].ElementCount() / elements;
  kernel.emit = [e, elements, linear](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                                     llvm::Value*) {
    EmitVector(e, elements, linear, b, arrays, begin);
  };
  out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
