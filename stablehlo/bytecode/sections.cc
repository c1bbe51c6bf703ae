// The sections of a bytecode file: strings, dialects, and where attributes, types, resources and
// properties lie.
//
//   "ML\xefR" version producer  section*         section: id length [alignment] body
// Sections come in any order, but what they hold refers to one another by number:
//   strings     every name and text once
//   dialects    names of dialects (strings), and the operations of each that the file uses
//   entries     attributes and types, one after the other; a second section, of offsets, says of
//               which dialect each is, how long, and whether it is binary or text
//   resources   large constants, aligned
//   properties  the properties of operations, from version 5 on
//   program     operations (operations.cc)
// This file only notes where each entry and resource lies: views into the bytes, no copies. Its
// cost is linear in their number, not in their bytes.
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "stablehlo/bytecode/bytecode_reader.h"
#include "stablehlo/bytecode/bytecode_reader_internal.h"

namespace hlokit {
namespace {

// Numbers of the format.
enum SectionId : uint8_t {
  kStrings = 0,
  kDialects = 1,
  kEntries = 2,
  kEntryOffsets = 3,
  kProgram = 4,
  kResources = 5,
  kResourceOffsets = 6,
  kDialectVersions = 7,
  kProperties = 8,
  kSectionCount = 9,
};
// Versions of the format from which on ...
constexpr uint64_t kDialectsHaveVersions = 1;
constexpr uint64_t kNamesAreCounted = 4;
constexpr uint64_t kHasPropertySection = 5;
constexpr uint64_t kNewestVersion = 6;

}  // namespace

bool MlirBytecodeReader::String(BytecodeCursor& c, absl::string_view& text) {
  uint64_t index = 0;
  if (!c.VarInt(index)) return false;
  if (index >= strings_.size()) return c.Fail("there is no string ", index);
  text = strings_[index];
  return true;
}

// The lengths stand in reverse order before the texts; each text ends with a zero, which counts.
bool MlirBytecodeReader::ReadStrings(BytecodeCursor c) {
  uint64_t count = 0;
  if (!c.Count(count)) return false;
  std::vector<uint64_t> lengths(count);
  for (uint64_t i = count; i-- > 0;)
    if (!c.VarInt(lengths[i])) return false;
  for (const uint64_t length : lengths) {
    absl::string_view text;
    if (!c.Bytes(length, text)) return false;
    strings_.push_back(text.substr(0, text.empty() ? 0 : text.size() - 1));
  }
  return true;
}

bool MlirBytecodeReader::ReadOperationNames(BytecodeCursor& c) {
  uint64_t dialect = 0, count = 0;
  if (!c.VarInt(dialect) || !c.Count(count)) return false;
  if (dialect >= dialects_.size()) return c.Fail("there is no dialect ", dialect);
  for (uint64_t i = 0; i < count; ++i) {
    OperationName name;
    uint64_t index = 0;
    if (version_ < kHasPropertySection ? !c.VarInt(index)
                                       : !c.VarIntWithFlag(index, name.registered))
      return false;
    if (index >= strings_.size()) return c.Fail("there is no string ", index);
    name.written = module_.Keep(absl::StrCat(dialects_[dialect], ".", strings_[index]));
    name.full = module_.Keep(CommonName(name.written));
    names_.push_back(name);
  }
  return true;
}

bool MlirBytecodeReader::ReadDialects(BytecodeCursor c) {
  uint64_t count = 0;
  if (!c.Count(count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    absl::string_view name;
    if (version_ < kDialectsHaveVersions) {
      if (!String(c, name)) return false;
    } else {
      uint64_t index = 0, offset = 0;
      bool versioned = false;
      uint8_t id = 0;
      absl::string_view version;
      if (!c.VarIntWithFlag(index, versioned)) return false;
      if (index >= strings_.size()) return c.Fail("there is no string ", index);
      name = strings_[index];
      if (versioned && !c.Section(id, version, offset)) return false;
    }
    dialects_.push_back(name);
  }
  uint64_t names = 0;
  if (version_ >= kNamesAreCounted && !c.VarInt(names)) return false;
  while (!c.AtEnd())
    if (!ReadOperationNames(c)) return false;
  return true;
}

// A group of entries of one dialect: how long each is, and whether it is binary.
bool MlirBytecodeReader::ReadEntries(BytecodeCursor& c, Span entries, uint64_t& at,
                                     std::vector<Entry>& list) {
  uint64_t dialect = 0, count = 0;
  if (!c.VarInt(dialect) || !c.Count(count)) return false;
  if (dialect >= dialects_.size()) return c.Fail("there is no dialect ", dialect);
  for (uint64_t i = 0; i < count; ++i) {
    Entry entry;
    uint64_t size = 0;
    if (!c.VarIntWithFlag(size, entry.binary)) return false;
    if (size > entries.bytes.size() - at) return c.Fail("an entry is longer than its section");
    entry.dialect = dialects_[dialect];
    entry.bytes = entries.bytes.substr(at, size);
    entry.offset = entries.offset + at;
    at += size;
    list.push_back(entry);
  }
  return true;
}

bool MlirBytecodeReader::ReadOffsets(BytecodeCursor c, Span entries) {
  uint64_t attributes = 0, types = 0, at = 0;
  if (!c.Count(attributes) || !c.Count(types)) return false;
  while (attributes_.size() < attributes)
    if (!ReadEntries(c, entries, at, attributes_)) return false;
  while (types_.size() < types)
    if (!ReadEntries(c, entries, at, types_)) return false;
  return true;
}

// Resources outside dialects are of no meaning here; those of dialects are values of constants.
bool MlirBytecodeReader::ReadResources(BytecodeCursor c, Span data) {
  uint64_t outside = 0, at = 0;
  if (!c.Count(outside)) return false;
  for (uint64_t group = 0; !c.AtEnd(); ++group) {
    uint64_t owner = 0, count = 0;
    if (!c.VarInt(owner) || !c.Count(count)) return false;
    for (uint64_t i = 0; i < count; ++i) {
      absl::string_view key;
      uint64_t size = 0;
      uint8_t kind = 0;
      if (!String(c, key) || !c.VarInt(size) || !c.Byte(kind)) return false;
      if (size > data.bytes.size() - at) return c.Fail("a resource is longer than its section");
      if (group >= outside) resources_.push_back({data.bytes.substr(at, size), data.offset + at});
      at += size;
    }
  }
  return true;
}

bool MlirBytecodeReader::ReadPropertyTable(BytecodeCursor c) {
  uint64_t count = 0;
  if (!c.Count(count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t size = 0;
    if (!c.VarInt(size)) return false;
    Span span;
    span.offset = c.offset();
    if (!c.Bytes(size, span.bytes)) return false;
    properties_.push_back(span);
  }
  return true;
}

bool MlirBytecodeReader::ReadSections() {
  Span sections[kSectionCount];
  bool seen[kSectionCount] = {};
  while (!file_.AtEnd()) {
    uint8_t id = 0;
    Span span;
    if (!file_.Section(id, span.bytes, span.offset)) return false;
    if (id >= kSectionCount) return file_.Fail("there is no section ", int{id});
    if (seen[id]) return file_.Fail("the section ", int{id}, " is there twice");
    seen[id] = true;
    sections[id] = span;
  }
  for (const SectionId id : {kStrings, kDialects, kEntries, kEntryOffsets, kProgram})
    if (!seen[id]) return file_.Fail("the section ", int{id}, " is missing");
  if (!ReadStrings(Cursor(sections[kStrings], "strings")) ||
      !ReadDialects(Cursor(sections[kDialects], "dialects")) ||
      !ReadOffsets(Cursor(sections[kEntryOffsets], "attribute offsets"), sections[kEntries]))
    return false;
  if (seen[kResourceOffsets] &&
      !ReadResources(Cursor(sections[kResourceOffsets], "resource offsets"), sections[kResources]))
    return false;
  if (seen[kProperties] && !ReadPropertyTable(Cursor(sections[kProperties], "properties")))
    return false;
  return ReadProgram(Cursor(sections[kProgram], "operations"));
}

bool MlirBytecodeReader::Read() {
  absl::string_view magic, producer;
  if (!file_.Bytes(4, magic) || !file_.VarInt(version_) || !file_.CString(producer)) return false;
  if (magic != "ML\xefR") return file_.Fail("this is no MLIR bytecode");
  if (version_ > kNewestVersion)
    return file_.Fail("bytecode of version ", version_, " (by ", producer,
                      ") is newer than the newest known, ", kNewestVersion);
  return ReadSections();
}

absl::StatusOr<std::unique_ptr<MlirModule>> ReadMlirBytecode(
    absl::string_view bytes, const std::shared_ptr<const void>& owner) {
  auto module = std::make_unique<MlirModule>();
  MlirBytecodeReader reader(bytes, owner, *module);
  if (!reader.Read()) return reader.error();
  return module;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
