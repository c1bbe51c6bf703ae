// Element sizes of layouts.
#include "passes/movement/sub_byte_size.h"

namespace hlokit {
namespace {

// Whether the array itself, not the parts of a tuple, says another element size than is wanted.
bool NeedsSize(const Shape& shape, bool packed) {
  if (!shape.IsArray() || !IsSubByte(shape.type) || IsPred(shape.type)) return false;
  const int64_t found = shape.layout.extras ? shape.layout.extras->element_size_in_bits : 0;
  return found != (packed ? BitWidth(shape.type) : 0);
}

bool NeedsSizes(const Shape& shape, bool packed) {
  for (const Shape& part : shape.elements)
    if (NeedsSizes(part, packed)) return true;
  return NeedsSize(shape, packed);
}

bool SetSizes(Shape& shape, bool packed) {
  bool changed = false;
  for (Shape& part : shape.elements) changed |= SetSizes(part, packed);
  if (!NeedsSize(shape, packed)) return changed;
  if (!shape.has_layout) shape = shape.WithDefaultLayout();
  LayoutExtras extras = shape.layout.extras ? *shape.layout.extras : LayoutExtras();
  extras.element_size_in_bits = packed ? BitWidth(shape.type) : 0;
  shape.layout.extras =
      extras == LayoutExtras() ? nullptr : std::make_shared<const LayoutExtras>(std::move(extras));
  return true;
}

template <bool kPacked>
absl::StatusOr<bool> SetSubByteSizes(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions())
      if (NeedsSizes(i->shape(), kPacked))  // shapes are shared until one is asked to change
        changed |= SetSizes(i->mutable_shape(), kPacked);
  if (module.header().entry_layout) {
    for (Shape& parameter : module.header().entry_layout->parameters)
      changed |= SetSizes(parameter, kPacked);
    changed |= SetSizes(module.header().entry_layout->result, kPacked);
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateSubByteSizeSetter() {
  return MakeModulePass("sub-byte-size-setter", SetSubByteSizes<true>);
}

std::unique_ptr<Pass> CreateSubByteSizeRemoval() {
  return MakeModulePass("sub-byte-size-removal", SetSubByteSizes<false>);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
