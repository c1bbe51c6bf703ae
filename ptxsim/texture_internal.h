// What texture and surface instructions share: [handle, {coordinates}] and the object behind it.
#pragma once

#include <memory>

#include "ptxsim/async_internal.h"
#include "ptxsim/bind_internal.h"
#include "ptxsim/texture.h"

namespace hlokit::ptx {

// The shape that .1d, .2d, .a1d, ... name.
struct Geometry {
  int dims = 0;  // coordinates that are filtered or addressed; a cube has two
  bool is_layered = false, is_cube = false, is_multisampled = false;

  // Words of the coordinates that count, a layer or sample before them included.
  int Coordinates() const {
    return (is_cube ? 3 : dims) + (is_layered ? 1 : 0) + (is_multisampled ? 1 : 0);
  }
};
// False where the instruction names none.
bool GeometryOf(const Binder& b, Geometry& geometry);

// The handle: a 64-bit register, the name of a .texref variable, or of a parameter that holds one.
struct ObjectOperand {
  AddressColumn column;
  bool is_parameter = false;
};
// Takes the operand; `kind` is what the object must be.
bool TakeObject(Binder& b, const Operand& operand, ObjectOperand& object);

// The object of a lane; null after a fault.
const Texture* ObjectAt(const Op& op, Warp& warp, int lane, const ObjectOperand& object,
                        ObjectKind kind);

// A word of a column of 32-bit lanes.
inline uint32_t WordAt(const std::byte* frame, const Slot& slot, int lane) {
  return In<uint32_t>(frame, slot.at)[lane];
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
