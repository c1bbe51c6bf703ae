// Maps of --weights-map: JSON objects that name the array of an archive for each parameter.
//
// Each is applied to an archive of three arrays and a module of three parameters. What is refused
// says why; what is taken gives each parameter a value of its shape.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "fuzz/memory_file.h"
#include "fuzz/target.h"
#include "parser/parser.h"
#include "support/status.h"
#include "tools/common/input_files.h"

namespace hlokit {
namespace {

constexpr absl::string_view kHeader =
    R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],)"
    R"("data_offsets":[8,16]},"c.0":{"dtype":"I32","shape":[],"data_offsets":[16,20]}})";
constexpr char kTakes[] = R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  z = (s32[], token[]) parameter(2)
  ROOT s = f32[2] add(x, y)
})";

std::string Archive() {
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(kHeader.size());
  return absl::StrCat(bytes, kHeader, std::string(20, '\1'));
}

}  // namespace

InputKind KindOf(absl::string_view) { return InputKind::kText; }

bool RunOne(absl::string_view input) {
  static const MemoryFile& archive = *new MemoryFile(Archive());
  static const Module& module = *ParseModule(kTakes).value().release();
  const MemoryFile map(input);
  const auto files = InputFiles::Open({archive.path()}, "safetensors", map.path());
  if (!files.ok()) {
    CHECK(!files.status().message().empty());
    return false;
  }
  const auto values = files->Read(*module.entry(), 0);
  if (!values.ok()) {
    CHECK(!values.status().message().empty());
    return false;
  }
  CHECK(values->size() == 3);
  for (int64_t k = 0; k < 3; ++k)
    CHECK((*values)[static_cast<size_t>(k)].shape() == module.entry()->parameters()[k]->shape());
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
