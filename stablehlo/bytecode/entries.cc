// Attributes and types by their number: each is read when it is first asked for.
//
// A file numbers its attributes and types, and an entry may refer to entries before or behind it:
//   0: "value"        1: array [0, 2]        2: 3 : i64
// Reading entry 1 therefore resolves 0 and 2 on the way (depth first) and keeps what it made, so
// each entry is read once at most and those that no operation needs are never read. Cost: linear in
// the entries that are used. An entry that is open, which is being read farther up the stack, is
// part of itself; that and a depth of more than kMaxDepth are errors, as no program can mean them.
// Dialects that keep no binary form write an entry as text, which the text reader takes.
#include "absl/container/flat_hash_map.h"
#include "stablehlo/bytecode/bytecode_reader_internal.h"
#include "stablehlo/text/text_reader.h"

namespace hlokit {
namespace {

constexpr int kMaxDepth = 200;

}  // namespace

bool MlirBytecodeReader::AttributeAt(BytecodeCursor& c, uint64_t index,
                                     const MlirAttribute*& attribute) {
  if (index >= attributes_.size()) return c.Fail("there is no attribute ", index);
  Entry& entry = attributes_[index];
  if (entry.attribute == nullptr && !ResolveAttribute(entry)) return false;
  attribute = entry.attribute;
  return true;
}

bool MlirBytecodeReader::Attribute(BytecodeCursor& c, const MlirAttribute*& attribute) {
  uint64_t index = 0;
  return c.VarInt(index) && AttributeAt(c, index, attribute);
}

bool MlirBytecodeReader::OptionalAttribute(BytecodeCursor& c, const MlirAttribute*& attribute) {
  uint64_t index = 0;
  bool present = false;
  if (!c.VarIntWithFlag(index, present)) return false;
  return !present || AttributeAt(c, index, attribute);
}

bool MlirBytecodeReader::Attributes(BytecodeCursor& c,
                                    std::vector<const MlirAttribute*>& attributes) {
  uint64_t count = 0;
  if (!c.Count(count)) return false;
  attributes.resize(count);
  for (const MlirAttribute*& attribute : attributes)
    if (!Attribute(c, attribute)) return false;
  return true;
}

// Locations are attributes too; null where the attribute is another one.
bool MlirBytecodeReader::Location(BytecodeCursor& c, const MlirLocation*& location) {
  uint64_t index = 0;
  const MlirAttribute* attribute = nullptr;
  if (!c.VarInt(index) || !AttributeAt(c, index, attribute)) return false;
  location = attributes_[index].location;
  return true;
}

bool MlirBytecodeReader::Type(BytecodeCursor& c, const MlirType*& type) {
  uint64_t index = 0;
  if (!c.VarInt(index)) return false;
  if (index >= types_.size()) return c.Fail("there is no type ", index);
  Entry& entry = types_[index];
  if (entry.type == nullptr && !ResolveType(entry)) return false;
  type = entry.type;
  return true;
}

bool MlirBytecodeReader::Types(BytecodeCursor& c, std::vector<const MlirType*>& types) {
  uint64_t count = 0;
  if (!c.Count(count)) return false;
  types.resize(count);
  for (const MlirType*& type : types)
    if (!Type(c, type)) return false;
  return true;
}

bool MlirBytecodeReader::StringAttribute(BytecodeCursor& c, std::string& text) {
  const MlirAttribute* attribute = nullptr;
  if (!Attribute(c, attribute)) return false;
  if (attribute->kind != MlirAttribute::Kind::kString) return c.Fail("expected a string");
  text = attribute->text;
  return true;
}

bool MlirBytecodeReader::ResolveAttribute(Entry& entry) {
  BytecodeCursor c(entry.bytes, entry.offset, "attributes", &error_);
  if (entry.open || depth_ >= kMaxDepth) return c.Fail("an attribute is made of itself");
  if (!entry.binary) {
    absl::string_view text;
    if (!c.CString(text)) return false;
    auto read = ReadMlirAttribute(text, module_);
    if (!read.ok()) return c.Fail(read.status().message());
    entry.attribute = *read;
    return true;
  }
  entry.open = true;
  ++depth_;
  MlirAttribute made;
  const bool done = entry.dialect == "builtin"     ? BuiltinAttribute(c, entry, made)
                    : entry.dialect == "vhlo"      ? VhloAttribute(c, made)
                    : entry.dialect == "stablehlo" ? StablehloAttribute(c, made)
                    : entry.dialect == "mhlo"      ? MhloAttribute(c, made)
                    : entry.dialect == "chlo"      ? ChloAttribute(c, made)
                    : entry.dialect == "sdy"       ? SdyAttribute(c, made)
                                                   : c.Fail("binary attributes of the dialect ",
                                                            entry.dialect, " are not known");
  --depth_;
  entry.open = false;
  if (done) entry.attribute = module_.Add(std::move(made));
  return done;
}

bool MlirBytecodeReader::ResolveType(Entry& entry) {
  BytecodeCursor c(entry.bytes, entry.offset, "types", &error_);
  if (entry.open || depth_ >= kMaxDepth) return c.Fail("a type is made of itself");
  if (!entry.binary) {
    absl::string_view text;
    if (!c.CString(text)) return false;
    auto read = ReadMlirType(text, module_);
    if (!read.ok()) return c.Fail(read.status().message());
    entry.type = *read;
    return true;
  }
  entry.open = true;
  ++depth_;
  MlirType made;
  bool done = false;
  if (entry.dialect == "builtin") {
    done = BuiltinType(c, made);
  } else if (entry.dialect == "vhlo") {
    done = VhloType(c, made);
  } else if (entry.dialect == "quant") {
    uint64_t code = 0;
    constexpr uint64_t kUniform = 4, kUniformPerAxis = 5;
    if (c.VarInt(code) && code != kUniform && code != kUniformPerAxis)
      c.Fail("quantized types of code ", code, " are not supported");
    done = error_.ok() && QuantizedType(c, code == kUniformPerAxis, made);
  } else if (entry.dialect == "stablehlo") {
    made.kind = MlirType::Kind::kToken;
    made.shape = Shape::Token();
    done = true;
  } else {
    c.Fail("binary types of the dialect ", entry.dialect, " are not known");
  }
  --depth_;
  entry.open = false;
  if (done) entry.type = module_.Add(std::move(made));
  return done;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
