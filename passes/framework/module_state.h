// A module as it stood at one moment, to tell whether a pass changed it.
#pragma once

#include <memory>
#include <optional>

#include "ir/module.h"
#include "passes/framework/fingerprint.h"

namespace hlokit {

// Whether both hold the same computations, instructions and header in the same order, by value:
// then they have the same text, fingerprint and meaning. False says nothing: two such modules may
// still read the same. Several times as fast as printing one of them.
bool IsSameModule(const Module& a, const Module& b);

// Remembers a module by a copy, so that most comparisons print nothing.
class ModuleState {
 public:
  // `fingerprint`: the module's, where it is known.
  explicit ModuleState(const Module& module, std::optional<Fingerprint> fingerprint = {})
      : own_(module.Clone()), copy_(*own_), fingerprint_(std::move(fingerprint)) {}
  // `copy` is a copy already, which stays as it is for as long as this is used.
  static ModuleState OfCopy(const Module& copy) { return ModuleState(copy, CopyTag()); }

  // Whether `module` reads otherwise than the one that this remembers; with `in_memory`, whether it
  // shares literals and shapes otherwise too. `now`: the module's fingerprint, where it was taken.
  bool Differs(const Module& module, bool in_memory, std::optional<Fingerprint>& now);

 private:
  struct CopyTag {};
  ModuleState(const Module& copy, CopyTag) : copy_(copy) {}

  std::unique_ptr<const Module> own_;
  const Module& copy_;
  std::optional<Fingerprint> fingerprint_;  // taken when first needed
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
