// The backend_config of custom calls as a tree: MLIR dictionaries and JSON.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

struct ConfigEntry;

struct ConfigValue {
  enum class Kind : uint8_t { kNone, kInteger, kNumber, kString, kList, kMap };
  Kind kind = Kind::kNone;
  int64_t integer = 0;  // also of true and false
  double number = 0;    // of integers too
  std::string string;
  std::vector<ConfigValue> list;
  std::vector<ConfigEntry> map;

  // The entry of a map, or null.
  const ConfigValue* Find(absl::string_view name) const;
  // Integers and numbers, also where JSON spells them as strings; otherwise `otherwise`.
  double NumberOr(absl::string_view name, double otherwise) const;
  std::string StringOr(absl::string_view name, absl::string_view otherwise) const;
  // A list of integers, empty where there is none.
  std::vector<int64_t> IntegersOf(absl::string_view name) const;
};

struct ConfigEntry {
  std::string name;
  ConfigValue value;
};

// `{uplo = 76 : ui8, scale = 2.5 : f32, name = "x", ids = array<i64: 1, 2>, on}` or
// `{"alpha_real":1,"dims":["0"]}`. An empty map for text of another kind. Errors: InvalidArgument
// where text that begins so does not go on so.
absl::StatusOr<ConfigValue> ParseCallConfig(absl::string_view text);

// One name for an activation, in capitals, from any vendor's ("kGelu", "Relu", "GELU_TANH") or from
// the number that old dumps give cuDNN's ("2" for RELU).
std::string ActivationName(absl::string_view name);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
