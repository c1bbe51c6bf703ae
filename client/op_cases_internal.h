// The table behind operations_test.cc: every operation of the semantics pages, built once.
#pragma once

#include <string>
#include <vector>

#include "builder/builder.h"
#include "client/client.h"

namespace hlokit {

// What a case needs of its host while it runs.
enum class HostSide : uint8_t { kNothing, kFeeds, kIsFed };

struct OpCase {
  const char* row;  // of the catalogue of operations
  void (*build)(XlaBuilder& b);
  HostSide host = HostSide::kNothing;
};

std::vector<OpCase> ElementCases();
std::vector<OpCase> ArrayCases();
std::vector<OpCase> ComputationCases();
std::vector<OpCase> DeviceCases();

inline Shape F32(std::initializer_list<int64_t> dims) {
  return Shape::Array(ElementType::kF32, dims);
}
inline Shape S32(std::initializer_list<int64_t> dims) {
  return Shape::Array(ElementType::kS32, dims);
}
// Parameter `number`, named p<number>.
inline XlaOp P(XlaBuilder& b, int64_t number, const Shape& shape) {
  return Parameter(&b, number, shape, absl::StrCat("p", number));
}
inline XlaComputation AddF32() { return ScalarComputation(Opcode::kAdd, ElementType::kF32); }
inline XlaComputation MaxF32() { return ScalarComputation(Opcode::kMaximum, ElementType::kF32); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
