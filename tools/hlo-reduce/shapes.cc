// Candidates with smaller dimensions. A size occurs in many shapes, so all dimensions of one size
// shrink together (and, if wanted, its multiples by the same factor): f32[64,128] and f32[128,10]
// stay consistent when 128 becomes 8. Constants keep their corner; slices, pads and windows are
// adjusted, and the verifier decides whether the result is still a module.
#include <algorithm>
#include <set>

#include "tools/hlo-reduce/edits.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

// Sizes of `from` become `to`; with `multiples`, each multiple of it shrinks by the same factor.
struct Shrink {
  int64_t from, to;
  bool multiples;
  int64_t operator()(int64_t size) const {
    if (size == from) return to;
    return multiples && size > from && size % from == 0 ? size / from * to : size;
  }
};

void ShrinkShape(Shape& shape, const Shrink& shrink) {
  for (int64_t& d : shape.dims) d = shrink(d);
  for (Shape& element : shape.elements) ShrinkShape(element, shrink);
}

void ShrinkAttributes(Instruction* i, const Shrink& shrink) {
  switch (i->opcode()) {
    case Opcode::kConstant: {
      if (i->literal() == nullptr || !i->shape().IsArray() ||
          SameDims(i->shape(), i->literal()->shape()))
        return;
      i->mutable_attr<ConstantAttrs>().literal =
          std::make_shared<const Literal>(Corner(*i->literal(), i->shape()));
      return;
    }
    case Opcode::kSlice:
      for (auto& part : i->mutable_attr<SliceAttrs>().slice) {
        part.start = part.start == 0 ? 0 : shrink(part.start);
        part.limit = shrink(part.limit);
      }
      return;
    case Opcode::kDynamicSlice:
      for (int64_t& size : i->mutable_attr<DynamicSliceAttrs>().dynamic_slice_sizes)
        size = shrink(size);
      return;
    case Opcode::kGather:
      for (int64_t& size : i->mutable_attr<GatherAttrs>().slice_sizes) size = shrink(size);
      return;
    default:
      return;
  }
}

std::unique_ptr<Module> Shrunk(const Module& module, const Shrink& shrink) {
  std::unique_ptr<Module> copy = module.Clone();
  for (Computation* c : copy->Computations())
    for (Instruction* i : c->Instructions()) {
      ShrinkShape(i->mutable_shape(), shrink);
      ShrinkAttributes(i, shrink);
    }
  if (copy->header().entry_layout) {
    for (Shape& parameter : copy->header().entry_layout->parameters) ShrinkShape(parameter, shrink);
    ShrinkShape(copy->header().entry_layout->result, shrink);
  }
  return copy;
}

void CollectSizes(const Shape& shape, std::set<int64_t>& sizes) {
  for (int64_t d : shape.dims)
    if (d > 1) sizes.insert(d);
  for (const Shape& element : shape.elements) CollectSizes(element, sizes);
}

std::set<int64_t> SizesOf(const Module& module) {
  std::set<int64_t> sizes;
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions()) CollectSizes(i->shape(), sizes);
  return sizes;
}

bool IsValid(const Module& module) {
  Diagnostics diagnostics;
  return Verify(module, diagnostics).ok();
}

// With the size `from` smaller, where that leaves the module valid, else null.
std::unique_ptr<Module> WithLess(const Module& module, int64_t from) {
  for (int64_t to : {int64_t{2}, int64_t{4}, from / 2})
    for (bool multiples : {true, false}) {
      if (to >= from) continue;
      std::unique_ptr<Module> smaller = Shrunk(module, Shrink{from, to, multiples});
      if (IsValid(*smaller)) return smaller;
    }
  return nullptr;
}

}  // namespace

Literal Corner(const Literal& literal, const Shape& shape) {
  Literal small(shape);
  const int64_t width = ByteWidth(shape.type);
  DimVector strides(shape.dims.size(), 1);
  for (int64_t d = static_cast<int64_t>(strides.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * literal.shape().dims[d + 1];
  int64_t to = 0;
  ForEachIndex(shape.dims, [&](absl::Span<const int64_t> index) {
    int64_t from = 0;
    for (size_t d = 0; d < index.size(); ++d) from += index[d] * strides[d];
    std::copy_n(literal.data() + from * width, width, small.data() + to++ * width);
  });
  return small;
}

std::unique_ptr<Module> WithLeastShapes(std::unique_ptr<Module> module) {
  constexpr int64_t kSmall = 4;
  std::set<int64_t> stuck;
  while (true) {
    const std::set<int64_t> sizes = SizesOf(*module);
    const auto next = std::find_if(sizes.rbegin(), sizes.rend(),
                                   [&](int64_t size) { return !stuck.contains(size); });
    if (next == sizes.rend() || *next <= kSmall) return module;
    if (std::unique_ptr<Module> smaller = WithLess(*module, *next))
      module = std::move(smaller);
    else
      stuck.insert(*next);
  }
}

std::vector<Candidate> SmallerShapes(const Module& module) {
  const std::set<int64_t> sizes = SizesOf(module);
  std::vector<Candidate> candidates;
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size)
    for (int64_t to : {int64_t{1}, int64_t{2}, *size / 2})
      for (bool multiples : {true, false})
        if (to < *size && (to <= 2 || to == *size / 2))
          candidates.push_back(
              [&module, shrink = Shrink{*size, to, multiples}] { return Shrunk(module, shrink); });
  return candidates;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
