// Descriptions of attribute fields: each attribute struct names its fields once, and reader,
// printer, equality, hash, clone and documentation follow.
#pragma once
#include <cstdint>
#include <tuple>
#include <utility>

namespace hlokit {

enum class FieldUse : uint8_t {
  kRequired,  // an error when missing; always printed
  kOptional,  // printed where it differs from the default-constructed value
  kPrinted,   // may be missing; always printed
  kReadOnly,  // read, never printed (an older dialect's name)
};

template <typename A, typename T>
struct Field {
  const char* name;
  T A::*member;
  FieldUse use;
};

template <typename A, typename T>
constexpr Field<A, T> Required(const char* name, T A::*member) {
  return {name, member, FieldUse::kRequired};
}
template <typename A, typename T>
constexpr Field<A, T> Optional(const char* name, T A::*member) {
  return {name, member, FieldUse::kOptional};
}
template <typename A, typename T>
constexpr Field<A, T> Printed(const char* name, T A::*member) {
  return {name, member, FieldUse::kPrinted};
}
template <typename A, typename T>
constexpr Field<A, T> ReadOnly(const char* name, T A::*member) {
  return {name, member, FieldUse::kReadOnly};
}

// Calls fn(field) for each field of A in printing order.
template <typename A, typename Fn>
constexpr void ForEachField(Fn&& fn) {
  std::apply([&](const auto&... field) { (fn(field), ...); }, A::Fields());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
