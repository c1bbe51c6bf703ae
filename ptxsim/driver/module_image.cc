// ELF files tell their own length: the tables of sections and segments end them.
#include "ptxsim/driver/module_image.h"

#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "support/file.h"
#include "support/status.h"

namespace hlokit::cuda {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kFatbin = 0xba55ed50, kFatbinWrapper = 0x466243b1;

// The device's function that sets what a graph's conditional nodes read; the driver has it, modules
// only declare it. Here a condition is the address of a word (graphs.cc).
constexpr char kSetConditional[] = "cudaGraphSetConditional";
constexpr char kSetConditionalFunction[] = R"(
.visible .func cudaGraphSetConditional(.param .b64 condition, .param .b32 value)
{
  .reg .b64 %address;
  .reg .b32 %value;
  ld.param.u64 %address, [condition];
  ld.param.u32 %value, [value];
  st.global.u32 [%address], %value;
  ret;
}
)";

uint64_t BytesOfElf(const Elf64_Ehdr& header) {
  uint64_t end = header.e_ehsize;
  end = std::max<uint64_t>(end, header.e_shoff + uint64_t{header.e_shentsize} * header.e_shnum);
  return std::max<uint64_t>(end, header.e_phoff + uint64_t{header.e_phentsize} * header.e_phnum);
}

std::string TritonCache() {
  if (const char* folder = std::getenv("TRITON_CACHE_DIR"); folder != nullptr) return folder;
  const char* home = std::getenv("HOME");
  return home == nullptr ? "" : std::string(home) + "/.triton/cache";
}

// The file of `folder` and below with these bytes; empty where there is none.
fs::path FindCubin(const std::string& folder, absl::string_view bytes) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".cubin" || at->file_size(error) != bytes.size()) continue;
    const absl::StatusOr<std::string> text = ReadFile(at->path().string());
    if (text.ok() && *text == bytes) return at->path();
  }
  return {};
}

}  // namespace

absl::StatusOr<std::string> PtxOfImage(const void* image) {
  if (image == nullptr) return InvalidArgument("no module");
  uint32_t magic = 0;
  std::memcpy(&magic, image, 1);
  if (magic == 0) return std::string();
  const auto* bytes = static_cast<const char*>(image);
  if (std::strncmp(bytes, ELFMAG, SELFMAG) == 0) {
    Elf64_Ehdr header;
    std::memcpy(&header, image, sizeof header);
    const fs::path cubin = FindCubin(TritonCache(), absl::string_view(bytes, BytesOfElf(header)));
    if (cubin.empty())
      return NotFound("a cubin holds machine code, the simulator runs PTX; Triton's cache (",
                      TritonCache(), ") has no PTX for it");
    return ReadFile(fs::path(cubin).replace_extension(".ptx").string());
  }
  if (::strnlen(bytes, sizeof magic) == sizeof magic) std::memcpy(&magic, image, sizeof magic);
  if (magic == kFatbin || magic == kFatbinWrapper)
    return NotFound("a fat binary holds machine code, the simulator runs PTX");
  std::string text(bytes);
  if (absl::StrContains(text, kSetConditional)) text += kSetConditionalFunction;
  return text;
}

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
