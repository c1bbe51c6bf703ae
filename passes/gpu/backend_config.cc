// One level of a JSON object: values stay as text, nested objects are read by another
// BackendConfig of that text.
#include "passes/gpu/backend_config.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace hlokit {
namespace {

// Reads `"..."` at `at`, or nothing; `at` moves behind it.
bool SkipString(absl::string_view text, size_t& at) {
  if (at >= text.size() || text[at] != '"') return false;
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      ++at;
      return true;
    }
  }
  return false;
}

// Moves `at` to the comma or the brace that ends the value which begins there.
void SkipValue(absl::string_view text, size_t& at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      if (!SkipString(text, at)) return;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}')) return;
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    ++at;
  }
}

int Rank(absl::string_view name) {
  if (name == "operation_queue_id") return 0;
  if (name == "wait_on_operation_queues") return 1;
  return name == "force_earliest_schedule" ? 3 : 2;
}

}  // namespace

BackendConfig::BackendConfig(absl::string_view json) {
  json = absl::StripAsciiWhitespace(json);
  if (json.empty() || json[0] != '{') return;
  size_t at = 1;
  const auto skip_blanks = [&] {
    while (at < json.size() && (absl::ascii_isspace(json[at]) || json[at] == ',')) ++at;
  };
  while (true) {
    skip_blanks();
    const size_t name = at;
    if (!SkipString(json, at)) return;
    const absl::string_view key = json.substr(name + 1, at - name - 2);
    skip_blanks();
    if (at >= json.size() || json[at] != ':') return;
    ++at;
    skip_blanks();
    const size_t value = at;
    SkipValue(json, at);
    fields_.emplace_back(
        std::string(key),
        std::string(absl::StripTrailingAsciiWhitespace(json.substr(value, at - value))));
  }
}

absl::string_view BackendConfig::Raw(absl::string_view name) const {
  for (const auto& [key, value] : fields_)
    if (key == name) return value;
  return "";
}

absl::string_view BackendConfig::Text(absl::string_view name) const {
  const absl::string_view raw = Raw(name);
  return raw.size() >= 2 && raw[0] == '"' ? raw.substr(1, raw.size() - 2) : raw;
}

void BackendConfig::SetRaw(absl::string_view name, absl::string_view value) {
  for (auto& [key, old] : fields_)
    if (key == name) {
      old = std::string(value);
      return;
    }
  fields_.emplace_back(std::string(name), std::string(value));
}

void BackendConfig::SetText(absl::string_view name, absl::string_view value) {
  SetRaw(name, absl::StrCat("\"", value, "\""));
}

void BackendConfig::SetInt(absl::string_view name, int64_t value) {
  SetText(name, absl::StrCat(value));
}

std::string BackendConfig::Json() const {
  auto fields = fields_;
  std::stable_sort(fields.begin(), fields.end(),
                   [](const auto& a, const auto& b) { return Rank(a.first) < Rank(b.first); });
  std::string json = "{";
  for (const auto& [key, value] : fields)
    absl::StrAppend(&json, json.size() > 1 ? "," : "", "\"", key, "\":", value);
  return json + "}";
}

void BackendConfig::WriteTo(Instruction& i) const {
  BackendConfig whole = *this;
  if (whole.Raw("operation_queue_id").empty()) whole.SetInt("operation_queue_id", 0);
  if (whole.Raw("force_earliest_schedule").empty()) whole.SetBool("force_earliest_schedule", false);
  i.mutable_extras().backend_config = SharedText(whole.Json());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
