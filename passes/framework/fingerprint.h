// What tells whether a module is the one that it was.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/module.h"

namespace hlokit {

// Of a module at one moment: everything that its text holds (names, metadata, layouts, schedules
// and the header too), the values of its constants, attributes with the digits that the text rounds
// away, and how many literals and shapes it keeps in
// memory. It holds the constants' literals, so a later one knows them by their addresses. Takes
// about as long as printing the module without its large constants.
class Fingerprint {
 public:
  explicit Fingerprint(const Module& module);

  // Whether both modules read the same.
  bool SameText(const Fingerprint& other) const;
  // Whether they share literals and shapes alike, too.
  bool operator==(const Fingerprint& other) const {
    return kept_ == other.kept_ && SameText(other);
  }

 private:
  size_t text_ = 0;  // a hash
  // Of what the text may leave out, sorted by the names of the instructions.
  std::vector<std::pair<std::string, SharedLiteral>> literals_;
  size_t kept_ = 0;  // literals and shapes in memory
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
