// dlopen, and the checks before anything of a plugin runs.
#include "passes/plugin.h"

#include <dlfcn.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "passes/pass_registry.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr char kSymbol[] = "hlokit_pass_plugin";

absl::Status CheckVersion(const PassPlugin& plugin) {
  if (plugin.version != kPassPluginVersion)
    return InvalidArgument("it was built for version ", plugin.version,
                           " of the interface of passes, this program has version ",
                           kPassPluginVersion);
  if (plugin.layout != PassPluginLayout())
    return InvalidArgument("it was built with other headers of hlokit than this program");
  return absl::OkStatus();
}

absl::Status AddPasses(void* library) {
  void* const symbol = dlsym(library, kSymbol);
  if (symbol == nullptr)
    return InvalidArgument("it is no plugin: it lacks the function ", kSymbol,
                           ", which HLOKIT_PASS_PLUGIN of passes/plugin.h makes");
  const PassPlugin* const plugin = reinterpret_cast<const PassPlugin* (*)()>(symbol)();
  if (plugin == nullptr) return InvalidArgument(kSymbol, " gives nothing");
  RETURN_IF_ERROR(CheckVersion(*plugin));
  std::vector<PassRow> rows;
  for (uint32_t k = 0; k < plugin->row_count; ++k) {
    const PassPluginRow& row = plugin->rows[k];
    if (row.name == nullptr || row.summary == nullptr)
      return InvalidArgument("pass ", k, " of '", plugin->name,
                             "' has no name or no line about it");
    rows.push_back({row.name, row.summary, row.make});
  }
  return Annotate(AddPassRows(rows), absl::StrCat("plugin '", plugin->name, "'"));
}

}  // namespace

absl::Status LoadPassPlugin(const std::string& path) {
  // Without a slash dlopen would look in the system's folders.
  const std::string file = path.find('/') == std::string::npos ? absl::StrCat("./", path) : path;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return NotFound("cannot load the pass plugin ", path, ": ", dlerror());
  const absl::Status added = AddPasses(library);
  if (!added.ok()) dlclose(library);
  return Annotate(added, absl::StrCat("pass plugin ", path));
}

absl::Status LoadPassPlugins(absl::Span<const std::string> paths) {
  for (const std::string& path : paths) RETURN_IF_ERROR(LoadPassPlugin(path));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
