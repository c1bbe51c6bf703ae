// The explorer's HTML file: pages of one module, or of all modules and passes of a dump.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// Collects versions of modules, packed at once so that little memory is held, and writes the page.
class PageBuilder {
 public:
  // What follows belongs to a new module.
  void AddModule(std::string name);

  struct Counts {
    int64_t added = -1, removed = 0, changed = 0;  // against the version before; -1: there is none
  };
  // `data` is PageData's text, `memory` MemoryData's or empty. Internal where packing fails.
  absl::Status AddVersion(absl::string_view label, const Counts& counts, absl::string_view data,
                          absl::string_view memory);

  // Bytes of packed data so far.
  size_t size() const { return data_.size(); }

  // The whole file. `revision`: what a served page watches; negative for a file.
  std::string Html(absl::string_view title, int64_t revision = -1) const;

 private:
  absl::Status AddData(absl::string_view id, absl::string_view json);

  std::string data_;   // <script> elements
  std::string index_;  // JSON of modules and versions
  int versions_ = 0;
  bool module_has_version_ = false;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
