// Elementwise work on neighbours: r = x + y of f32[1024,1024], four elements a thread.
//
//   ld.global.v4.f32 x[4t .. 4t+3];  ld.global.v4.f32 y[...];  4 additions;  st.global.v4.f32
//   r[...]
//
// All elements are computed before any is stored, so that LLVM may join the loads to one of up to
// 16 bytes (a result may lie in an operand's place, which keeps loads and stores in order).
// Parameters of kernels are known to be aligned to 16 bytes (gpu_kernels.cc). A fourth of the
// threads computes its index, tests it and loads its parameters.
//
// Limits: results of one shape and layout; the vector's length divides their number of elements.
#include "backends/cuda/vector_kernels.h"

#include <algorithm>

#include "types/element_type.h"

namespace hlokit {
namespace {

constexpr int64_t kVectorBytes = 16;
constexpr int64_t kMaxElements = 4;
// Smaller arrays would leave multiprocessors without work.
// Of an element, in simple float operations: more is worth a thread of its own.
constexpr double kMuchWork = 64;

bool Applies(const Expression& e) {
  const Shape& first = e.shapes[0];
  for (const Shape& shape : e.shapes)
    if (shape.dims != first.dims || shape.MinorToMajor() != first.MinorToMajor()) return false;
  return first.ElementCount() >= kSmallArray && IsLinear(e) && ElementCost(e) <= kMuchWork;
}

void EmitVector(const Expression& e, int64_t elements, Builder& b, KernelArrays& arrays,
                llvm::Value* unit) {
  ElementEmitter emitter(b);
  emitter.set_excess(true);
  emitter.set_plain_nans(HasPlainNaNs(e));
  BindLeaves(emitter, e, arrays);
  llvm::Value* const first = Scale(b, unit, elements);
  std::vector<ElementIndex> places;
  std::vector<ScalarValue> values;
  for (int64_t k = 0; k < elements; ++k) {
    places.push_back(ElementIndex::Linear(k == 0 ? first : b.CreateNSWAdd(first, b.Index(k))));
    for (size_t r = 0; r < e.roots.size(); ++r)
      values.push_back(emitter.EmitRounded(e.roots[r], places.back(), e.root_leaves[r]));
  }
  for (size_t r = 0; r < e.roots.size(); ++r)
    for (size_t k = 0; k < places.size(); ++k)
      StoreTo(b, arrays.result(static_cast<int64_t>(r)), places[k], values[k * e.roots.size() + r]);
}

}  // namespace

int64_t VectorElements(const Expression& e, int64_t count) {
  int64_t width = 1;
  for (const Shape& shape : e.shapes) width = std::max<int64_t>(width, ByteWidth(shape.type));
  for (const Expression::Leaf& leaf : e.leaves)
    if (leaf.instruction->shape().IsArray() && !leaf.instruction->shape().IsScalar())
      width = std::max<int64_t>(width, ByteWidth(leaf.instruction->shape().type));
  int64_t elements = std::min(kMaxElements, kVectorBytes / width);
  while (elements > 1 && count % elements != 0) elements /= 2;
  return elements;
}

bool AddVectorKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  if (!Applies(e)) return false;
  const int64_t elements = VectorElements(e, e.shapes[0].ElementCount());
  if (elements < 2) return false;
  Kernel kernel;
  kernel.units = e.shapes[0].ElementCount() / elements;
  kernel.emit = [e, elements](Builder& b, KernelArrays& arrays, llvm::Value* begin, llvm::Value*) {
    EmitVector(e, elements, b, arrays, begin);
  };
  out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
