// Hashes of what instructions compute, blind to names, metadata and places.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/module.h"

namespace hlokit {

// By instruction id: equal for instructions that compute the same from the same parameters, by
// opcode, shape with layout, attributes, operands, constants and called computations. Different
// instructions have different hashes but for accidents: some attributes of rare opcodes are left
// out. 0 for ids that are not in use.
std::vector<uint64_t> StructuralHashes(const Module& module);

// Of what the instruction itself says: StructuralHashes without operands and called computations.
uint64_t LocalHash(const Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
