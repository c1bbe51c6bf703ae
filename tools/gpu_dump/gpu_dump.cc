// Readers of the text files in a GPU dump. They look for the words that matter and skip the rest,
// which changes from one version of XLA to the next.
#include "tools/gpu_dump/gpu_dump.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "support/status.h"

namespace hlokit {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kThunks = ".thunk_sequence.txt";

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// The modules that have a sequence of thunks: `module_0001.jit_f`.
std::set<std::string> ModulesOf(const std::vector<std::string>& names) {
  std::set<std::string> modules;
  for (const std::string& name : names)
    if (absl::EndsWith(name, kThunks)) modules.insert(name.substr(0, name.size() - kThunks.size()));
  return modules;
}

// Text between `begin` and the next `end`; nullopt where one is missing.
std::optional<absl::string_view> Between(absl::string_view text, absl::string_view begin,
                                         absl::string_view end) {
  const size_t from = text.find(begin);
  if (from == absl::string_view::npos) return std::nullopt;
  text.remove_prefix(from + begin.size());
  const size_t to = text.find(end);
  if (to == absl::string_view::npos) return std::nullopt;
  return text.substr(0, to);
}

// `grid: [8, 1, 1]`.
bool ParseDims(absl::string_view line, absl::string_view label, uint32_t dims[3]) {
  const auto text = Between(line, absl::StrCat(label, ": ["), "]");
  if (!text) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(*text, ',');
  if (parts.size() != 3) return false;
  for (int k = 0; k < 3; ++k)
    if (!absl::SimpleAtoi(parts[static_cast<size_t>(k)], &dims[k])) return false;
  return true;
}

// `001: kCustomKernel [source | sink] NAME grid: [1, 1, 1] threads: [27, 1, 1]  shared_memory: 0
// bytes` False for lines that are no entry.
absl::StatusOr<bool> ParseThunk(absl::string_view line, GpuThunk& thunk) {
  line = absl::StripAsciiWhitespace(line);
  const size_t colon = line.find(':');
  if (colon == absl::string_view::npos || !absl::SimpleAtoi(line.substr(0, colon), &thunk.id))
    return false;
  line = absl::StripLeadingAsciiWhitespace(line.substr(colon + 1));
  const size_t space = std::min(line.find_first_of(" \t"), line.size());
  thunk.kind = std::string(line.substr(0, space));
  if (!absl::StrContains(line, "grid:")) return true;
  absl::string_view rest = line.substr(space);
  if (const size_t bracket = rest.find(']');
      absl::StartsWith(absl::StripLeadingAsciiWhitespace(rest), "[") &&
      bracket != absl::string_view::npos)
    rest.remove_prefix(bracket + 1);
  rest = absl::StripLeadingAsciiWhitespace(rest);
  thunk.kernel = std::string(rest.substr(0, rest.find(' ')));
  const auto shared = Between(line, "shared_memory: ", " ");
  if (!ParseDims(line, "grid", thunk.grid) || !ParseDims(line, "threads", thunk.threads) ||
      (shared && !absl::SimpleAtoi(*shared, &thunk.shared_bytes)))
    return InvalidArgument("expected grid: [x, y, z] threads: [x, y, z] shared_memory: N bytes");
  return true;
}

// The instruction of each numbered thunk: `profile_annotation: "fusion.2"  thunk_id: 1`.
absl::flat_hash_map<int64_t, std::string> ParseMetadata(absl::string_view text) {
  absl::flat_hash_map<int64_t, std::string> names;
  for (absl::string_view entry : absl::StrSplit(text, "thunk_metadata {")) {
    const auto name = Between(entry, "profile_annotation: \"", "\"");
    const auto number = Between(entry, "thunk_id: ", "\n");
    int64_t id = 0;
    if (name && number && absl::SimpleAtoi(*number, &id)) names[id] = std::string(*name);
  }
  return names;
}

// `<167 fusion.4{1} (phi) @0>`: the number, which both files give a value.
std::optional<int64_t> ValueNumber(absl::string_view text) {
  int64_t number = 0;
  if (!absl::ConsumePrefix(&text, "<")) return std::nullopt;
  if (!absl::SimpleAtoi(text.substr(0, text.find(' ')), &number)) return std::nullopt;
  return number;
}

// `fusion.4 {1}` and `fusion.4`.
std::string PositionOf(absl::string_view line) {
  std::string position(absl::StripAsciiWhitespace(line));
  position.erase(std::remove(position.begin(), position.end(), ' '), position.end());
  return position;
}

absl::Status AtLine(size_t line, absl::string_view what) {
  return InvalidArgument("line ", line + 1, ": ", what);
}

// ` value: <7 fusion @0> (size=108,offset=0): f32[3,9]{1,0}` into the slice of the value.
bool ParseValue(absl::string_view line, int64_t allocation, int64_t& number, GpuSlice& slice) {
  const auto value = ValueNumber(line);
  const auto size = Between(line, "(size=", ",");
  const auto offset = Between(line, ",offset=", ")");
  slice.allocation = allocation;
  if (!value || !size || !offset) return false;
  number = *value;
  return absl::SimpleAtoi(*size, &slice.size) && absl::SimpleAtoi(*offset, &slice.offset);
}

}  // namespace

absl::StatusOr<GpuDumpFiles> FindGpuDump(const std::string& folder, const std::string& stem) {
  std::string path = folder;
  std::vector<std::string> names = FilesIn(path);
  std::set<std::string> modules = ModulesOf(names);
  if (modules.empty() && !stem.empty()) {
    path = absl::StrCat(folder, "/", stem);
    names = FilesIn(path);
    modules = ModulesOf(names);
  }
  if (modules.empty())
    return NotFound("no *", kThunks, " in ", folder, stem.empty() ? "" : absl::StrCat(" or ", path),
                    ": not what XLA's GPU compiler leaves by --xla_dump_to");
  if (modules.size() > 1) {
    std::vector<std::string> fitting;
    for (const std::string& module : modules)
      if (module == stem || absl::EndsWith(module, absl::StrCat(".", stem)))
        fitting.push_back(module);
    if (fitting.size() == 1) modules = {fitting[0]};
  }
  if (modules.size() > 1)
    return InvalidArgument(
        path, " holds the dumps of several modules: ", absl::StrJoin(modules, ", "), "; name one");
  GpuDumpFiles files;
  files.module = *modules.begin();
  for (const std::string& name : names) {
    if (!absl::StartsWith(name, absl::StrCat(files.module, "."))) continue;
    const std::string full = absl::StrCat(path, "/", name);
    if (absl::EndsWith(name, ".ptx")) files.ptx.push_back(full);
    if (absl::EndsWith(name, "gpu_after_optimizations.txt")) files.hlo = full;
    if (absl::EndsWith(name, "buffer-assignment.txt")) files.buffers = full;
    if (absl::EndsWith(name, "buffer-assignment-values.txt")) files.values = full;
    if (absl::EndsWith(name, kThunks)) files.thunks = full;
    if (absl::EndsWith(name, ".thunk_metadata.txt")) files.metadata = full;
  }
  if (files.hlo.empty())
    return NotFound(path, " has no ", files.module, ".*gpu_after_optimizations.txt");
  if (files.buffers.empty())
    return NotFound(path, " has no ", files.module, ".*buffer-assignment.txt");
  return files;
}

absl::StatusOr<std::vector<GpuThunk>> ParseGpuThunks(absl::string_view sequence,
                                                     absl::string_view metadata) {
  const absl::flat_hash_map<int64_t, std::string> names = ParseMetadata(metadata);
  std::vector<GpuThunk> thunks;
  const std::vector<absl::string_view> lines = absl::StrSplit(sequence, '\n');
  for (size_t n = 0; n < lines.size(); ++n) {
    GpuThunk thunk;
    const absl::StatusOr<bool> is_thunk = ParseThunk(lines[n], thunk);
    if (!is_thunk.ok()) return AtLine(n, is_thunk.status().message());
    if (!*is_thunk) continue;
    if (const auto found = names.find(thunk.id); found != names.end())
      thunk.instruction = found->second;
    else if (names.empty())
      thunk.instruction = thunk.kernel;
    thunks.push_back(std::move(thunk));
  }
  return thunks;
}

absl::StatusOr<GpuBuffers> ParseGpuBuffers(absl::string_view assignment, absl::string_view values) {
  GpuBuffers buffers;
  absl::flat_hash_map<int64_t, GpuSlice> by_number;
  const std::vector<absl::string_view> lines = absl::StrSplit(assignment, '\n');
  for (size_t n = 0; n < lines.size(); ++n) {
    absl::string_view line = absl::StripAsciiWhitespace(lines[n]);
    if (absl::ConsumePrefix(&line, "allocation ")) {
      size_t number = 0;
      GpuBuffers::Allocation allocation;
      const auto size = Between(line, ": size ", ",");
      if (!absl::SimpleAtoi(line.substr(0, line.find(':')), &number) ||
          number != buffers.allocations.size() || !size ||
          !absl::SimpleAtoi(*size, &allocation.size) || allocation.size < 0)
        return AtLine(n, absl::StrCat("expected allocation ", buffers.allocations.size(),
                                      ": size BYTES, ..."));
      allocation.is_thread_local = absl::StrContains(line, ", thread-local");
      buffers.allocations.push_back(allocation);
    } else if (absl::ConsumePrefix(&line, "value: ")) {
      int64_t number = 0;
      GpuSlice slice;
      if (buffers.allocations.empty() ||
          !ParseValue(line, static_cast<int64_t>(buffers.allocations.size()) - 1, number, slice))
        return AtLine(n, "expected value: <NUMBER name> (size=BYTES,offset=BYTES)");
      if (slice.offset < 0 || slice.size < 0 ||
          slice.offset > buffers.allocations.back().size - slice.size)
        return AtLine(n, "the value does not lie in its allocation");
      by_number[number] = slice;
      // The value's own position: what stands between its number and ` @0>` or ` (phi) @0>`.
      absl::string_view name = line.substr(line.find(' ') + 1);
      name = name.substr(0, std::min(name.find(" @"), name.find(" (phi)")));
      buffers.slices[PositionOf(absl::StripSuffix(name, "{}"))] = slice;
    }
  }
  // The other positions. In an older XLA they stand in the assignment itself.
  const GpuSlice* slice = nullptr;
  bool in_positions = false;
  for (const absl::string_view text : {values, assignment}) {
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      if (const auto number = ValueNumber(line)) {
        const auto found = by_number.find(*number);
        slice = found == by_number.end() ? nullptr : &found->second;
        in_positions = false;
      } else if (absl::StripAsciiWhitespace(line) == "positions:") {
        in_positions = true;
      } else if (!absl::StartsWith(line, "  ")) {
        in_positions = false;
      } else if (in_positions && slice != nullptr) {
        const std::string position = PositionOf(line);
        buffers.slices[std::string(absl::StripSuffix(position, "{}"))] = *slice;
      }
    }
  }
  return buffers;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
