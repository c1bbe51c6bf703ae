// Handles of values in a computation under construction, and what every operation takes.
#pragma once

#include <cstdint>
#include <source_location>

#include "absl/types/span.h"

namespace hlokit {

class XlaBuilder;

// The place of a call, for messages; a default argument of every operation, not given by hand but
// by bindings of other languages: Where() is no place, and messages then name none.
#if __has_builtin(__builtin_source_location)
using Where = std::source_location;
#else  // clang 14, whose library has none
class Where {
 public:
  Where() = default;
  // The place of the call that this is a default argument of.
  static Where current(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE(),
                       uint32_t column = __builtin_COLUMN()) {
    Where where;
    where.file_ = file;
    where.line_ = line;
    where.column_ = column;
    return where;
  }
  // Empty where the place is not known.
  const char* file_name() const { return file_; }
  // From 1; 0 where the place is not known.
  uint32_t line() const { return line_; }
  // The same.
  uint32_t column() const { return column_; }

 private:
  const char* file_ = "";
  uint32_t line_ = 0, column_ = 0;
};
#endif

// Sizes, strides or numbers of dimensions; `{2, 3}` converts to it.
using DimSpan = absl::Span<const int64_t>;

// A value in a computation under construction: what operations return and take. Light, copied by
// value; lives as long as its builder. Default-constructed handles, and those that failed
// operations return, are not valid: operations on them do nothing and give such a handle again.
class XlaOp {
 public:
  XlaOp() = default;
  // Whether an operation gave it that did not fail.
  bool valid() const { return handle_ >= 0; }
  // Of a failed operation too; null where default-constructed.
  XlaBuilder* builder() const { return builder_; }
  // The number of the value in its builder, from 0; negative where not valid.
  int64_t handle() const { return handle_; }
  // The same value of the same builder.
  bool operator==(const XlaOp&) const = default;

 private:
  friend class XlaBuilder;
  XlaOp(int64_t handle, XlaBuilder* builder) : handle_(handle), builder_(builder) {}
  int64_t handle_ = -1;
  XlaBuilder* builder_ = nullptr;
};

// Operands; `{x, y}` converts to it.
using OpSpan = absl::Span<const XlaOp>;

// An operand that knows where it is used: operators take it, as they can have no default arguments.
struct LocatedOp {
  // Made by conversion, where the operator stands.
  LocatedOp(XlaOp value, Where place = Where::current()) : op(value), where(place) {}
  XlaOp op;
  Where where;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
