// The table of custom calls, behind a lock, and dlopen.
#include "ffi/registry.h"

#include <dlfcn.h>

#include <map>
#include <mutex>

#include "support/status.h"

namespace hlokit {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, hlokit_ffi_function, std::less<>> functions;
  std::map<std::string, PlainCustomCall, std::less<>> plain;
  std::vector<void*> libraries;  // handles of dlopen
};

Registry& TheRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

// Puts a function into one table of two; a target stands once in both.
template <typename Function, typename Other>
absl::Status AddFunction(absl::string_view target, Function function,
                         std::map<std::string, Function, std::less<>>& table,
                         const std::map<std::string, Other, std::less<>>& other) {
  if (function == nullptr)
    return InvalidArgument("there is no function for custom-call target \"", target, "\"");
  const auto at = table.find(AsStd(target));
  if (at != table.end() && at->second == function) return absl::OkStatus();
  if (at != table.end() || other.find(AsStd(target)) != other.end())
    return absl::AlreadyExistsError(
        absl::StrCat("custom-call target \"", target, "\" is registered twice"));
  table.emplace(std::string(target), function);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterCustomCall(absl::string_view target, hlokit_ffi_function function) {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  return AddFunction(target, function, registry.functions, registry.plain);
}

absl::Status RegisterCustomCall(absl::string_view target, PlainCustomCall function) {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  return AddFunction(target, function, registry.plain, registry.functions);
}

absl::StatusOr<std::vector<std::string>> LoadCustomCalls(const std::string& library) {
  // A bare name would be looked for in the system's folders only.
  const std::string path =
      library.find('/') == std::string::npos ? absl::StrCat("./", library) : library;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return NotFound("cannot load ", library, ": ", dlerror());
  const auto entries_of =
      reinterpret_cast<hlokit_ffi_entries_function>(dlsym(handle, "hlokit_ffi_entries"));
  {
    std::lock_guard<std::mutex> lock(TheRegistry().mutex);
    TheRegistry().libraries.push_back(handle);
  }
  if (entries_of == nullptr) return std::vector<std::string>();
  int32_t count = 0, version = 0;
  const hlokit_ffi_entry* entries = entries_of(&count, &version);
  if (version != HLOKIT_FFI_VERSION)
    return InvalidArgument(library, " was built for version ", version,
                           " of custom calls, this is version ", HLOKIT_FFI_VERSION);
  std::vector<std::string> targets;
  for (int32_t i = 0; i < count; ++i) {
    RETURN_IF_ERROR(RegisterCustomCall(entries[i].target, entries[i].function));
    targets.push_back(entries[i].target);
  }
  return targets;
}

hlokit_ffi_function FindCustomCall(absl::string_view target) {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  const auto at = registry.functions.find(AsStd(target));
  return at == registry.functions.end() ? nullptr : at->second;
}

PlainCustomCall FindCustomCallSymbol(absl::string_view target) {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  const auto at = registry.plain.find(AsStd(target));
  if (at != registry.plain.end()) return at->second;
  const std::string name(target);
  for (void* library : registry.libraries)
    if (void* symbol = dlsym(library, name.c_str()))
      return reinterpret_cast<PlainCustomCall>(symbol);
  return nullptr;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
