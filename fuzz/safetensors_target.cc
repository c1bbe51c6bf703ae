// The bytes of safetensors files: read, converted to literals, written and read back.
//
// Example: a header of two arrays with offsets 0 to 4 and 4 to 12 is read, and what is written from
// the literals holds the same names, types, sizes and bytes.
// Limits: says nothing of names that differ from what the format's own writer would have chosen.
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fuzz/memory_file.h"
#include "fuzz/target.h"
#include "support/status.h"
#include "types/compare.h"
#include "types/safetensors.h"

namespace hlokit {
namespace {

// The array of that name as a literal of the one type that it has.
absl::StatusOr<Literal> LiteralOf(const SafetensorsFile& file, absl::string_view name) {
  constexpr ElementType kTypes[] = {
#define HLO_TYPE(enumerator, text, number, bits, klass) ElementType::k##enumerator,
#include "types/element_types.def"
#undef HLO_TYPE
  };
  int types = 0;
  absl::StatusOr<Literal> literal = NotFound("no type");
  for (const ElementType type : kTypes) {
    const auto array = file.Read(name, type, "array");
    if (!array.ok()) continue;
    ++types;
    CHECK(array->element_count() * array->itemsize == static_cast<int64_t>(array->bytes.size()));
    const Shape shape = Shape::Array(type, array->shape);
    literal = ToLiteral(*array, shape, "array");
  }
  CHECK(types == 1) << "an array of " << types << " types";
  return literal;
}

}  // namespace

InputKind KindOf(absl::string_view) { return InputKind::kBinary; }

bool RunOne(absl::string_view input) {
  const MemoryFile memory(input);
  const auto file = SafetensorsFile::Open(memory.path());
  if (!file.ok()) {
    CHECK(!file.status().message().empty());
    return false;
  }
  CHECK(!file->Read("no such array", ElementType::kF32, "array").ok() ||
        file->Contains("no such array"));
  std::vector<std::unique_ptr<Literal>> literals;
  std::vector<NamedLiteral> arrays;
  for (const std::string& name : file->names()) {
    absl::StatusOr<Literal> literal = LiteralOf(*file, name);
    if (!literal.ok()) return false;
    literals.push_back(std::make_unique<Literal>(*std::move(literal)));
    arrays.push_back({name, literals.back().get()});
  }
  const std::string path = absl::StrCat("/dev/shm/hlokit_fuzz_", getpid(), ".safetensors");
  CHECK(WriteSafetensors(path, arrays).ok());
  const auto again = SafetensorsFile::Open(path);
  unlink(path.c_str());
  CHECK(again.ok()) << again.status().ToString();
  CHECK(again->names().size() == arrays.size());
  for (const NamedLiteral& array : arrays) {
    const auto literal = LiteralOf(*again, array.name);
    CHECK(literal.ok()) << literal.status().ToString();
    CHECK(*literal == *array.literal) << array.name;
  }
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
