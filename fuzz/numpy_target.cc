// The bytes of .npy and .npz files: read, converted to literals, written and read back.
#include <string>

#include "absl/strings/str_cat.h"
#include "fuzz/memory_file.h"
#include "fuzz/target.h"
#include "support/status.h"
#include "types/compare.h"
#include "types/npy.h"
#include "types/npz.h"

namespace hlokit {
namespace {

void CheckArray(const NumpyArray& array) {
  CHECK(array.element_count() * array.itemsize == static_cast<int64_t>(array.bytes.size()));
  if (array.kind == 'U' || array.kind == 'S') (void)ToStrings(array);
  const auto literal = ToLiteral(array);
  if (!literal.ok()) return;
  NpyPieces pieces;
  EncodeNpy(*literal, pieces);
  const std::string bytes = absl::StrCat(pieces.header, pieces.elements);
  const auto again = ParseNpy(bytes);
  CHECK(again.ok()) << again.status().ToString();
  const auto second = ToLiteral(*again, literal->shape(), "again");
  CHECK(second.ok()) << second.status().ToString();
  CHECK(second->byte_size() == literal->byte_size());
}

}  // namespace

InputKind KindOf(absl::string_view) { return InputKind::kBinary; }

bool RunOne(absl::string_view input) {
  if (const auto array = ParseNpy(input); array.ok()) {
    CheckArray(*array);
    return true;
  }
  const MemoryFile file(input);
  const auto archive = NpzFile::Open(file.path());
  if (!archive.ok()) return false;
  bool all = true;
  for (const std::string& name : archive->names()) {
    const auto array = archive->Read(name);
    all &= array.ok();
    if (array.ok()) CheckArray(*array);
  }
  return all;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
