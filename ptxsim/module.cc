// Look-ups in a PTX module.
#include "ptxsim/module.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace hlokit::ptx {

bool Instruction::Has(absl::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

int64_t Variable::ByteSize() const {
  int64_t size = int64_t{BytesOf(type)} * vector;
  for (int64_t dim : dims) size *= dim;
  return size;
}

namespace {

// %r12 as the prefix %r and the number 12.
bool SplitNumber(absl::string_view name, absl::string_view& prefix, uint32_t& number) {
  size_t digits = name.size();
  while (digits > 0 && absl::ascii_isdigit(name[digits - 1])) --digits;
  prefix = name.substr(0, digits);
  const absl::string_view tail = name.substr(digits);
  return !tail.empty() && (tail.size() == 1 || tail[0] != '0') && absl::SimpleAtoi(tail, &number);
}

}  // namespace

const Symbol* Function::Find(absl::string_view name, uint32_t scope, Symbol& storage) const {
  absl::string_view prefix;
  uint32_t number = 0;
  const bool numbered = SplitNumber(name, prefix, number);
  for (uint32_t at = scope;; at = scopes[at].parent) {
    const Scope& here = scopes[at];
    if (const auto found = here.symbols.find(name); found != here.symbols.end())
      return &found->second;
    if (numbered) {
      const auto range = here.ranges.find(prefix);
      if (range != here.ranges.end() && number < range->second.count) {
        storage = {Symbol::kRegister, range->second.first + number};
        return &storage;
      }
    }
    if (at == 0) return nullptr;
  }
}

const Function* Module::FindFunction(absl::string_view name) const {
  const auto found = functions_by_name.find(name);
  return found == functions_by_name.end() ? nullptr : found->second;
}

std::vector<std::string> Module::EntryNames() const {
  std::vector<std::string> names;
  for (const auto& function : functions)
    if (function->is_entry) names.push_back(function->name);
  return names;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
