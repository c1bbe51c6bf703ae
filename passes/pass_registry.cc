// The table of passes, behind a lock.
#include "passes/pass_registry.h"

#include <mutex>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "support/status.h"

namespace hlokit {

#define HLO_PASS(flag, factory, summary) std::unique_ptr<Pass> factory();
#define HLO_PASS_WITH_OPTIONS(flag, factory, summary) std::unique_ptr<Pass> factory(PassArguments&);
#include "passes/passes.def"
#undef HLO_PASS
#undef HLO_PASS_WITH_OPTIONS

namespace {

struct Registry {
  std::mutex mutex;
  using Rows = std::vector<PassRow>;
  std::shared_ptr<const Rows> rows = std::make_shared<Rows>(Rows{
#define HLO_PASS(flag, factory, summary) {flag, summary, [](PassArguments&) { return factory(); }},
#define HLO_PASS_WITH_OPTIONS(flag, factory, summary) {flag, summary, &factory},
#include "passes/passes.def"
#undef HLO_PASS
#undef HLO_PASS_WITH_OPTIONS
  });
};

Registry& TheRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

bool IsPassName(absl::string_view name) {
  for (const char c : name)
    if (!absl::ascii_isalnum(c) && c != '-' && c != '_' && c != '.') return false;
  return !name.empty() && name != "fix";
}

}  // namespace

std::shared_ptr<const std::vector<PassRow>> PassRows() {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  return registry.rows;
}

absl::Status AddPassRows(absl::Span<const PassRow> rows) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  absl::flat_hash_set<std::string> taken;
  for (const PassRow& row : *registry.rows) taken.insert(row.name);
  for (const PassRow& row : rows) {
    if (!IsPassName(row.name))
      return InvalidArgument("'", row.name,
                             "' cannot be a pass's name: letters, digits, - _ . only");
    if (row.make == nullptr) return InvalidArgument("pass ", row.name, " has no function");
    if (!taken.insert(row.name).second)
      return absl::AlreadyExistsError(absl::StrCat("there is a pass ", row.name, " already"));
  }
  auto all = std::make_shared<Registry::Rows>(*registry.rows);
  all->insert(all->end(), rows.begin(), rows.end());
  registry.rows = std::move(all);
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
