// Interned strings: each distinct text is kept once, has a dense id, and never moves.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// Views stay valid for the interner's life. Not safe for use from several threads at once.
class StringInterner {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  uint32_t Id(absl::string_view text);  // adds the text where it is new; ids count up from 0
  uint32_t Find(absl::string_view text) const;  // kNone where it was never added
  absl::string_view Text(uint32_t id) const { return texts_[id]; }
  absl::string_view Intern(absl::string_view text) { return Text(Id(text)); }
  size_t size() const { return texts_.size(); }

 private:
  absl::string_view Store(absl::string_view text);

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  size_t free_size_ = 0;
  std::vector<absl::string_view> texts_;
  absl::flat_hash_map<absl::string_view, uint32_t> ids_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
