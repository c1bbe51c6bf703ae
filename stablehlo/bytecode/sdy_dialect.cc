// Attributes of Shardy's dialect, sdy, as the text that MLIR prints for them: `@mesh, [{"x"}, {}]`.
//
// Example: code 4 with the string "x" and a part (2)4 of it is the text `"x":(2)4`; code 5 joins
// such texts to `{"x":(2)4, "y", ?}p1`; codes 6, 15 and 17 join those to a sharding of an array.
// Codes and fields: Shardy's bytecode.td, which never changes them.
// Limits: sharding rules and the parameters of Shardy's own collectives stay unread; what needs
// them refuses them by name.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "stablehlo/bytecode/bytecode_reader_internal.h"

namespace hlokit {
namespace {

enum SdyCode : uint64_t {
  kManualAxes = 0,
  kMeshAxis = 1,
  kMesh = 2,
  kSubAxis = 3,
  kAxisRef = 4,
  kDimension = 5,
  kSharding = 6,
  kPerValue = 7,
  kShardingUnreduced = 15,
  kPerValueUnreduced = 16,
  kShardingReduction = 17,
};

std::string Joined(const std::vector<const MlirAttribute*>& parts, bool between_angles = false) {
  return absl::StrJoin(parts, ", ", [&](std::string* out, const MlirAttribute* part) {
    if (part->kind == MlirAttribute::Kind::kString) {
      absl::StrAppend(out, "\"", part->text, "\"");
    } else {
      absl::StrAppend(out, between_angles ? "<" : "", part->text, between_angles ? ">" : "");
    }
  });
}

}  // namespace

// The texts of a list of attributes, joined; false where one is neither a text nor unread.
bool MlirBytecodeReader::SdyList(BytecodeCursor& c, std::string& text, bool between_angles) {
  std::vector<const MlirAttribute*> parts;
  if (!Attributes(c, parts)) return false;
  for (const MlirAttribute* part : parts)
    if (part->kind != MlirAttribute::Kind::kString && part->kind != MlirAttribute::Kind::kOpaque)
      return c.Fail("a list of sdy holds an attribute of another dialect");
  text = Joined(parts, between_angles);
  return true;
}

bool MlirBytecodeReader::SdyMeshText(BytecodeCursor& c, std::string& text) {
  std::string axes;
  std::vector<int64_t> devices;
  if (!SdyList(c, axes, false) || !c.SignedVarInts(devices)) return false;
  text = absl::StrCat("[", axes, "]");
  if (!devices.empty()) absl::StrAppend(&text, ", device_ids=[", absl::StrJoin(devices, ", "), "]");
  return true;
}

// `{"x", "y"}`, `{"x", ?}p2`: the axes of a dimension, whether more may follow, its priority.
bool MlirBytecodeReader::SdyDimension(BytecodeCursor& c, std::string& text) {
  uint8_t closed = 0;
  uint64_t priority = 0;
  bool has_priority = false;
  if (!SdyList(c, text, false) || !c.Byte(closed) || !c.VarIntWithFlag(priority, has_priority))
    return false;
  if (closed == 0) absl::StrAppend(&text, text.empty() ? "?" : ", ?");
  text = absl::StrCat("{", text, "}");
  if (has_priority) absl::StrAppend(&text, "p", priority);
  return true;
}

bool MlirBytecodeReader::SdySharding(BytecodeCursor& c, uint64_t code, std::string& text) {
  const MlirAttribute* mesh = nullptr;
  std::string dimensions, replicated, unreduced;
  if (!Attribute(c, mesh) || !SdyList(c, dimensions, false) || !SdyList(c, replicated, false))
    return false;
  const bool by_name = mesh->kind == MlirAttribute::Kind::kSymbol;
  if (!by_name && mesh->kind != MlirAttribute::Kind::kOpaque)
    return c.Fail("a sharding is of no mesh");
  text =
      absl::StrCat(by_name ? "@" : "mesh<", mesh->text, by_name ? "" : ">", ", [", dimensions, "]");
  if (!replicated.empty()) absl::StrAppend(&text, ", replicated={", replicated, "}");
  if (code == kSharding) return true;
  int64_t reduction = 0;
  if (!SdyList(c, unreduced, false)) return false;
  if (code == kShardingReduction && !c.SignedVarInt(reduction)) return false;
  static constexpr const char* kReductions[] = {"", "max", "min"};
  if (reduction < 0 || reduction >= static_cast<int64_t>(std::size(kReductions)))
    return c.Fail("sdy knows no reduction ", reduction);
  absl::StrAppend(&text, ", unreduced=", kReductions[reduction], "{", unreduced, "}");
  return true;
}

bool MlirBytecodeReader::SdyAttribute(BytecodeCursor& c, MlirAttribute& a) {
  a.kind = MlirAttribute::Kind::kOpaque;
  uint64_t code = 0;
  if (!c.VarInt(code)) return false;
  absl::string_view name;
  int64_t number = 0, size = 0;
  const MlirAttribute* part = nullptr;
  switch (code) {
    case kManualAxes:
      if (!SdyList(c, a.text, false)) return false;
      a.text = absl::StrCat("{", a.text, "}");
      return true;
    case kMeshAxis:
      if (!String(c, name) || !c.SignedVarInt(size)) return false;
      a.text = absl::StrCat("\"", name, "\"=", size);
      return true;
    case kMesh:
      return SdyMeshText(c, a.text);
    case kSubAxis:
      if (!c.SignedVarInt(number) || !c.SignedVarInt(size)) return false;
      a.text = absl::StrCat("(", number, ")", size);
      return true;
    case kAxisRef:
      if (!String(c, name) || !OptionalAttribute(c, part)) return false;
      a.text = absl::StrCat("\"", name, "\"");
      if (part != nullptr) absl::StrAppend(&a.text, ":", part->text);
      return true;
    case kDimension:
      return SdyDimension(c, a.text);
    case kSharding:
    case kShardingUnreduced:
    case kShardingReduction:
      a.tag = "sdy.sharding";
      return SdySharding(c, code, a.text);
    case kPerValue:
    case kPerValueUnreduced:
      a.tag = "sdy.sharding_per_value";
      if (!SdyList(c, a.text, true)) return false;
      a.text = absl::StrCat("[", a.text, "]");
      return true;
    default:
      a.tag = "sdy";
      return true;  // without text: unread
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
