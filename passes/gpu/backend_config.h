// The backend_config that XLA's GPU compiler writes on instructions: a JSON object, field by field.
//   {"operation_queue_id":"0","force_earliest_schedule":false}
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "ir/instruction.h"

namespace hlokit {

// The field whose object says how a collective runs.
inline constexpr absl::string_view kCollectiveConfig = "collective_backend_config";

// Keeps the text of the values that nobody sets.
class BackendConfig {
 public:
  // Of text that is no JSON object: an empty one.
  explicit BackendConfig(absl::string_view json);
  static BackendConfig Of(const Instruction& i) { return BackendConfig(i.backend_config()); }

  // The text of a value, quotes and braces included; empty where there is none.
  absl::string_view Raw(absl::string_view name) const;
  // The same without the quotes around a string.
  absl::string_view Text(absl::string_view name) const;
  void SetRaw(absl::string_view name, absl::string_view value);
  void SetText(absl::string_view name, absl::string_view value);
  void SetBool(absl::string_view name, bool value) { SetRaw(name, value ? "true" : "false"); }
  void SetInt(absl::string_view name, int64_t value);  // as protobuf's JSON: "8", in quotes

  // The queue first, the times to start last, as protobuf orders its fields.
  std::string Json() const;
  // Writes it on the instruction, with the queue and the times that protobuf writes always.
  void WriteTo(Instruction& i) const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;  // name, text
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
