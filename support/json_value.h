// JSON text as values that know their place in it, so that errors about them point at the text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "support/diagnostics.h"

namespace hlokit {

// One value. Members keep the order of the text; a name that comes twice is an error of the reader.
//   {"size": 8} -> kObject, members {{"size", kNumber 8}}
struct JsonValue {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  SourcePlace place;  // of the whole value
  bool boolean = false;
  double number = 0;
  std::string text;  // of strings, escapes resolved; of numbers as written
  std::vector<JsonValue> items;
  struct Member;
  std::vector<Member> members;

  // The member of that name; null where there is none, or where this is no object.
  const JsonValue* Find(absl::string_view name) const;
};

struct JsonValue::Member {
  std::string name;
  JsonValue value;
};

// "a number", "a string", ...: for messages.
absl::string_view KindName(JsonValue::Kind kind);

// Reads one value and nothing after it but blanks. `base` is added to places: the offset of `text`
// in the file that messages are about. Errors: InvalidArgument with a place where the text is not
// JSON in UTF-8, holds a name twice or a number beyond the doubles, or nests deeper than 64. Linear
// in the text.
absl::StatusOr<JsonValue> ParseJson(absl::string_view text, uint32_t base = 0);

// `text` in double quotes, with JSON's escapes; bytes that are no UTF-8 become U+FFFD.
std::string JsonQuote(absl::string_view text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
