// The explorer's HTML file: pages of one module, or of all modules and passes of a dump.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// What has changed against the version before; `added` -1: there is none.
struct ChangeCounts {
  int64_t added = -1, removed = 0, changed = 0;
};

// A module at one moment, packed for a page.
struct PackedVersion {
  std::string label;
  ChangeCounts counts;
  std::string data,
      memory;  // of PageData and MemoryData, as a <script> holds them; memory may be empty
};
// Internal where packing fails, ResourceExhausted for more than 2 GiB.
absl::StatusOr<PackedVersion> Pack(std::string label, const ChangeCounts& counts,
                                   absl::string_view data, absl::string_view memory);

// Collects versions of modules and writes the page.
class PageBuilder {
 public:
  // What follows belongs to a new module.
  void AddModule(absl::string_view name);
  void AddVersion(const PackedVersion& version);
  // Something that the reader should be told: a file that was left out.
  void AddNote(absl::string_view note);
  // What a browser without scripts, or grep, finds in the file; long texts are cut.
  void AddPlainText(absl::string_view text);

  // Bytes of packed data so far.
  size_t size() const { return data_.size(); }

  // The whole file. `revision`: what a served page watches; negative for a file.
  // `start`: where the page opens (a fragment of page/state.js); empty: at the entry.
  std::string Html(absl::string_view title, int64_t revision = -1,
                   absl::string_view start = "") const;

 private:
  void AddData(absl::string_view id, absl::string_view packed);

  std::string data_;   // <script> elements
  std::string index_;  // JSON of modules and versions
  std::string notes_;  // JSON of texts
  int versions_ = 0;
  bool module_has_version_ = false;
};

// A page that says `text` and becomes another as soon as the server's revision is not `revision`.
std::string WaitingPage(absl::string_view text, int64_t revision);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
