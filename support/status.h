// Errors as values: status constructors, RETURN_IF_ERROR and ASSIGN_OR_RETURN, and CHECK for faults
// of our own.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// Debian's absl::string_view is not std::string_view; LLVM and re2 want the latter.
inline std::string_view AsStd(absl::string_view text) { return {text.data(), text.size()}; }
inline absl::string_view AsAbsl(std::string_view text) { return {text.data(), text.size()}; }

// Statuses whose message is the concatenation of `parts`, each whatever absl::StrCat takes.
template <typename... Parts>
absl::Status InvalidArgument(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status NotFound(const Parts&... parts) {
  return absl::NotFoundError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status FailedPrecondition(const Parts&... parts) {
  return absl::FailedPreconditionError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status ResourceExhausted(const Parts&... parts) {
  return absl::ResourceExhaustedError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status Unimplemented(const Parts&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status Internal(const Parts&... parts) {
  return absl::InternalError(absl::StrCat(parts...));
}

// The same code and payloads with `prefix` and ": " before the message; OK stays OK.
absl::Status Annotate(const absl::Status& status, absl::string_view prefix);

#define RETURN_IF_ERROR(expr)                                                             \
  do {                                                                                    \
    if (absl::Status status_ = (expr); ABSL_PREDICT_FALSE(!status_.ok())) return status_; \
  } while (false)

// ASSIGN_OR_RETURN(auto x, F()): declares or assigns x from a StatusOr, or returns its error.
// A declaration that holds a comma outside parentheses wants a name for its type.
#define ASSIGN_OR_RETURN(lhs, expr) \
  HLOKIT_ASSIGN_OR_RETURN(HLOKIT_CONCAT(status_or_, __LINE__), lhs, expr)
#define HLOKIT_ASSIGN_OR_RETURN(temporary, lhs, expr)                            \
  auto temporary = (expr);                                                       \
  if (ABSL_PREDICT_FALSE(!temporary.ok())) return std::move(temporary).status(); \
  lhs = *std::move(temporary)
#define HLOKIT_CONCAT(a, b) HLOKIT_CONCAT_INNER(a, b)
#define HLOKIT_CONCAT_INNER(a, b) a##b

// Collects what is streamed into it, then prints it to standard error and aborts.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, absl::string_view what);
  [[noreturn]] ~CheckFailure();

  template <typename T>
  CheckFailure& operator<<(const T& part) {
    absl::StrAppend(&message_, part);
    return *this;
  }

 private:
  std::string message_;
};

// Turns `CheckFailure(...) << ...` into void, so that CHECK is one expression statement.
struct CheckVoid {
  void operator&(const CheckFailure&) const {}
};

// How CHECK_EQ and its like show a value: as StrCat does where it can, enumerators as numbers.
template <typename T>
std::string CheckText(const T& value) {
  if constexpr (requires { absl::AlphaNum(value); }) {
    return absl::StrCat(value);
  } else if constexpr (std::is_enum_v<T>) {
    return absl::StrCat(static_cast<long long>(value));
  } else {
    return "?";
  }
}

// CHECK(condition) << parts...: aborts on a fault of ours, in every build. Never for what a user
// can type.
#define CHECK(condition)                          \
  ABSL_PREDICT_TRUE(static_cast<bool>(condition)) \
  ? (void)0                                       \
  : ::hlokit::CheckVoid() &                       \
          ::hlokit::CheckFailure(__FILE__, __LINE__, "CHECK failed: " #condition " ")

#define HLOKIT_CHECK_OP(a, op, b) \
  CHECK((a)op(b)) << "(" << ::hlokit::CheckText(a) << " against " << ::hlokit::CheckText(b) << ") "
#define CHECK_EQ(a, b) HLOKIT_CHECK_OP(a, ==, b)
#define CHECK_NE(a, b) HLOKIT_CHECK_OP(a, !=, b)
#define CHECK_LT(a, b) HLOKIT_CHECK_OP(a, <, b)
#define CHECK_LE(a, b) HLOKIT_CHECK_OP(a, <=, b)
#define CHECK_GT(a, b) HLOKIT_CHECK_OP(a, >, b)
#define CHECK_GE(a, b) HLOKIT_CHECK_OP(a, >=, b)
#define CHECK_OK(expr)                                           \
  if (absl::Status check_status_ = (expr); check_status_.ok()) { \
  } else                                                         \
    CHECK(false) << #expr << ": " << check_status_.ToString()

// DCHECK and its like vanish where NDEBUG is defined; their operands are still compiled.
#ifdef NDEBUG
#define DCHECK(condition) \
  while (false) CHECK(condition)
#define DCHECK_EQ(a, b) \
  while (false) CHECK_EQ(a, b)
#define DCHECK_LT(a, b) \
  while (false) CHECK_LT(a, b)
#define DCHECK_LE(a, b) \
  while (false) CHECK_LE(a, b)
#else
#define DCHECK(condition) CHECK(condition)
#define DCHECK_EQ(a, b) CHECK_EQ(a, b)
#define DCHECK_LT(a, b) CHECK_LT(a, b)
#define DCHECK_LE(a, b) CHECK_LE(a, b)
#endif

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
