// Writing the page's JSON: lists of numbers and texts, appended.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// `"text"`; `<` is escaped too, so that no text ends a <script>.
void AppendJsonText(std::string& out, absl::string_view text);

// A whole number where it is one and fits, else seven digits; 0 where not finite.
void AppendJsonNumber(std::string& out, double value);

// `"name":[a,b,...]`, item by item.
class JsonList {
 public:
  JsonList(std::string& out, absl::string_view name) : out_(out) {
    absl::StrAppend(&out_, ",\"", name, "\":[");
  }
  ~JsonList() { out_ += ']'; }
  JsonList(const JsonList&) = delete;

  void Add(int64_t value) {
    Separate();
    absl::StrAppend(&out_, value);
  }
  void AddNumber(double value) {
    Separate();
    AppendJsonNumber(out_, value);
  }
  void AddText(absl::string_view text) {
    Separate();
    AppendJsonText(out_, text);
  }
  // JSON as it stands.
  void AddRaw(absl::string_view json) {
    Separate();
    out_.append(json.data(), json.size());
  }

 private:
  void Separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  std::string& out_;
  bool first_ = true;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
