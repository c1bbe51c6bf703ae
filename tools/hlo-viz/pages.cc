// Pages of the explorer: a module, or all stages of a dump folder, each compared with the stage
// before. Stages already packed are kept by file and stamp, so that a server reads again only what
// changed.
#include "tools/hlo-viz/pages.h"

#include <cstdio>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "support/status.h"
#include "support/text.h"
#include "tools/hlo-viz/explorer/memory_data.h"
#include "tools/hlo-viz/explorer/page_data.h"
#include "tools/hlo-viz/select.h"

namespace hlokit {
namespace {

constexpr size_t kMaxBytes = size_t{300} << 20;  // of a page; browsers take longer to open more

ChangeCounts CountsOf(const Module& before, const Module& after, const ModuleMatch& match) {
  const ModuleDifference difference = Difference(before, after, match);
  ChangeCounts counts;
  counts.added = static_cast<int64_t>(difference.added.size());
  counts.removed = static_cast<int64_t>(difference.removed.size());
  counts.changed = static_cast<int64_t>(difference.changed.size());
  return counts;
}

absl::StatusOr<PackedVersion> PackModule(std::string label, const Module& module,
                                         const Module* before, const SideInputs& side,
                                         const MemoryFiles& files,
                                         const std::vector<CodeFile>& code) {
  const ModuleIndex index(module);
  PageDataInputs inputs;
  inputs.times = side.times.empty() ? nullptr : &side.times;
  inputs.code = FindKernelCode(index, code);
  std::optional<ModuleMatch> match;
  ChangeCounts counts;
  if (before != nullptr) {
    match.emplace(*before, module);
    inputs.before = before;
    inputs.match = &*match;
    counts = CountsOf(*before, module, *match);
  }
  return Pack(std::move(label), counts, PageData(index, ScopeTree(index), inputs),
              MemoryData(index, files));
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

std::string StartOf(const VizOptions& o) {
  const auto escaped = [](absl::string_view name) {
    absl::ConsumePrefix(&name, "%");
    std::string text;
    for (const char c : name)
      absl::StrAppend(&text, absl::ascii_isalnum(static_cast<unsigned char>(c))
                                 ? std::string(1, c)
                                 : absl::StrFormat("%%%02X", static_cast<unsigned char>(c)));
    return text;
  };
  std::string start;
  const std::string& centre = !o.instruction.empty()   ? o.instruction
                              : !o.operands_of.empty() ? o.operands_of
                                                       : o.users_of;
  if (!o.computation.empty()) absl::StrAppend(&start, "&r=s%3A", escaped(o.computation));
  if (!centre.empty())
    absl::StrAppend(&start, "&s=i%3A", escaped(centre), "&q=near%3A", escaped(centre), "%3A",
                    o.radius);
  if (!o.from.empty())
    absl::StrAppend(&start, "&s=i%3A", escaped(o.to), "&q=paths%3A", escaped(o.from), "%3A",
                    escaped(o.to));
  if (o.color_by != "opcode") absl::StrAppend(&start, "&c=", escaped(o.color_by));
  return start.empty() ? "" : "#" + start.substr(1);
}

absl::StatusOr<std::string> ModulePage(const Module& module, const VizOptions& o,
                                       const SideInputs& side, int64_t revision) {
  RETURN_IF_ERROR(Select(ModuleIndex(module), o).status());  // names that do not exist
  ASSIGN_OR_RETURN(const PackedVersion version,
                   PackModule(o.input, module, side.other.get(), side,
                              o.input == "-" ? MemoryFiles{} : ReadMemoryFiles(o.input),
                              ReadCodeFiles(o.input)));
  PageBuilder page;
  if (const std::string note = ProfileNote(ModuleIndex(module), side.times); !note.empty()) {
    std::fprintf(stderr, "hlo-viz: note: %s\n", note.c_str());
    page.AddNote(note);
  }
  page.AddModule(module.name());
  page.AddVersion(version);
  return page.Html(module.name(), revision, StartOf(o));
}

absl::StatusOr<const DumpPages::Kept*> DumpPages::Version(const DumpStage& stage, Walk& walk) {
  walk.stamp = HashText(absl::StrCat(walk.stamp, " ", StampOf(stage.path)));
  Kept& kept = kept_[stage.path];
  if (kept.stamp != walk.stamp || kept.before != walk.before_path) {
    std::unique_ptr<Module> module = ReadStage(stage.path, options_);
    kept = Kept{walk.stamp, walk.before_path, module != nullptr, {}};
    if (kept.readable) {
      ASSIGN_OR_RETURN(kept.version, PackStage(stage, *module, walk));
      walk.before = std::move(module);
    }
  } else if (kept.readable) {
    walk.before = nullptr;
  }
  if (kept.readable) walk.before_path = stage.path;
  return &kept;
}

absl::StatusOr<PackedVersion> DumpPages::PackStage(const DumpStage& stage, const Module& module,
                                                   Walk& walk) const {
  if (walk.before == nullptr && !walk.before_path.empty())
    walk.before = ReadStage(walk.before_path, options_);
  return PackModule(StageLabel(stage), module, walk.before.get(), side_,
                    ReadMemoryFiles(stage.path), ReadCodeFiles(stage.path));
}

absl::StatusOr<std::string> DumpPages::Make(int64_t revision) {
  ASSIGN_OR_RETURN(const std::vector<DumpedModule> modules, ModulesOfFolder(options_.input));
  PageBuilder page;
  int left_out = 0, shown = 0;
  for (const DumpedModule& module : modules) {
    Walk walk;
    for (const DumpStage& stage : module.stages) {
      if (page.size() > kMaxBytes) {
        ++left_out;
        continue;
      }
      const bool first = walk.before_path.empty();
      ASSIGN_OR_RETURN(const Kept* kept, Version(stage, walk));
      if (!kept->readable) {
        page.AddNote(absl::StrCat(stage.path, " cannot be read and is left out"));
        continue;
      }
      if (first) page.AddModule(module.name);
      page.AddVersion(kept->version);
      ++shown;
    }
  }
  if (left_out > 0) {
    const std::string note = absl::StrCat("the page is full: ", left_out, " files are left out");
    std::fprintf(stderr, "hlo-viz: note: %s\n", note.c_str());
    page.AddNote(note);
  }
  if (shown == 0) return NotFound(options_.input, ": none of its modules can be read");
  return page.Html(options_.input, revision, StartOf(options_));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
