// Filling pages.
#include "tools/hlo-viz/pages.h"

#include <cstdio>
#include <optional>

#include "support/status.h"
#include "tools/hlo-viz/dump.h"
#include "tools/hlo-viz/explorer/page.h"
#include "tools/hlo-viz/explorer/page_data.h"

namespace hlokit {
namespace {

constexpr size_t kMostBytes = size_t{300} << 20;  // of a page; browsers take longer to open more

PageBuilder::Counts CountsOf(const Module& before, const Module& after, const ModuleMatch& match) {
  const ModuleDifference difference = Difference(before, after, match);
  PageBuilder::Counts counts;
  counts.added = static_cast<int64_t>(difference.added.size());
  counts.removed = static_cast<int64_t>(difference.removed.size());
  counts.changed = static_cast<int64_t>(difference.changed.size());
  return counts;
}

absl::Status AddVersion(PageBuilder& page, absl::string_view label, const Module& module,
                        const Module* before, const SideInputs& side) {
  const ModuleIndex index(module);
  PageDataInputs inputs;
  inputs.times = side.times.empty() ? nullptr : &side.times;
  std::optional<ModuleMatch> match;
  PageBuilder::Counts counts;
  if (before != nullptr) {
    match.emplace(*before, module);
    inputs.before = before;
    inputs.match = &*match;
    counts = CountsOf(*before, module, *match);
  }
  return page.AddVersion(label, counts, PageData(index, ScopeTree(index), inputs),
                         MemoryData(index));
}

// Null, after a note, for what cannot be read.
std::unique_ptr<Module> ReadStage(const std::string& path, const VizOptions& o) {
  auto source = ReadSource(path);
  if (!source.ok()) {
    std::fprintf(stderr, "hlo-viz: note: %s\n", std::string(source.status().message()).c_str());
    return nullptr;
  }
  auto loaded = LoadModule(*source, LoadOptionsOf(o));
  if (loaded.ok()) return std::move(loaded->module);
  std::fprintf(stderr, "hlo-viz: note: %s is left out\n", path.c_str());
  return nullptr;
}

}  // namespace

LoadOptions LoadOptionsOf(const VizOptions& o) {
  LoadOptions load;
  load.verify = o.verify;
  load.allow_unknown_attributes = o.allow_unknown_attributes;
  load.input_format = o.input_format;
  return load;
}

absl::StatusOr<std::string> ModulePage(const Module& module, const VizOptions& o,
                                       const SideInputs& side) {
  PageBuilder page;
  page.AddModule(module.name());
  RETURN_IF_ERROR(AddVersion(page, o.input, module, side.other.get(), side));
  return page.Html(module.name());
}

absl::StatusOr<std::string> DumpPage(const VizOptions& o, const SideInputs& side,
                                     int64_t revision) {
  ASSIGN_OR_RETURN(const std::vector<DumpedModule> modules, ModulesOfFolder(o.input));
  PageBuilder page;
  int left_out = 0, shown = 0;
  for (const DumpedModule& module : modules) {
    std::unique_ptr<Module> before;
    for (const DumpStage& stage : module.stages) {
      if (page.size() > kMostBytes) {
        ++left_out;
        continue;
      }
      std::unique_ptr<Module> read = ReadStage(stage.path, o);
      if (read == nullptr) continue;
      if (before == nullptr) page.AddModule(module.name);
      RETURN_IF_ERROR(AddVersion(page, StageLabel(stage), *read, before.get(), side));
      before = std::move(read);
      ++shown;
    }
  }
  if (left_out > 0)
    std::fprintf(stderr, "hlo-viz: note: the page is full: %d files are left out\n", left_out);
  if (shown == 0) return NotFound(o.input, ": none of its modules can be read");
  return page.Html(o.input, revision);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
