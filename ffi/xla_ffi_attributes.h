// Attributes of XLA's typed custom calls, of the text of a backend_config.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ffi/xla_ffi_abi.h"

namespace hlokit {

// XLA's number of an element type that HLO text names so ("f32", "s64"); MLIR's names of integers
// ("i64", "ui8", "i1") are known too. 0 where there is none. Booleans take a byte.
uint32_t XlaFfiTypeOf(absl::string_view name);

// Attributes as the interface has them, with all that they point to. Addresses are stable as long
// as this lives; it does not move.
class XlaFfiAttributes {
 public:
  XlaFfiAttributes() = default;
  XlaFfiAttributes(const XlaFfiAttributes&) = delete;
  XlaFfiAttributes& operator=(const XlaFfiAttributes&) = delete;

  // `{n = 3 : i32, scale = 0.5 : f32, name = "x", dims = array<i64: 1, 2>, on = true,
  //   table = dense<[1, 2]> : tensor<2xi32>, more = {...}}`; of an empty text none.
  // Errors: InvalidArgument where the text is no such dictionary, with the place in it.
  absl::Status Parse(absl::string_view text);
  const XlaFfiAttrs& attributes() const { return top_; }

 private:
  friend class XlaFfiAttributeReader;
  XlaFfiAttrs top_ = {};
  std::deque<std::string> texts_;  // also the bytes of scalars and arrays
  std::deque<XlaFfiSpan> spans_;
  std::deque<XlaFfiScalar> scalars_;
  std::deque<XlaFfiArray> arrays_;
  std::deque<XlaFfiAttrs> dictionaries_;
  std::deque<std::vector<XlaFfiAttrKind>> kinds_;
  std::deque<std::vector<XlaFfiSpan*>> names_;
  std::deque<std::vector<void*>> values_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
