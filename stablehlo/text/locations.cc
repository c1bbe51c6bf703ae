// Locations and aliases in MLIR text.
//
//   loc("f.py":3:4)   loc("name"("f.py":3:4))   loc(callsite("f" at "g"))   loc(fused["a", "b"])
// MLIR prints locations as aliases behind the module (`loc(#loc3)` ... `#loc3 = loc("f.py":3:4)`),
// so a use comes before the definition. The use makes an empty location and hands out its address;
// the definition fills it. One that is never defined stays unknown, which is what it says.
// stablehlo/convert/metadata.cc makes the metadata of HLO instructions from them.
#include "stablehlo/text/text_reader_internal.h"

namespace hlokit {

// `"file":3:4`, `"file":3:4 to :9`, `"file":3:4 to 5:9`; the path is read.
bool MlirTextReader::ReadFileRange(MlirLocation& location) {
  location.kind = MlirLocation::Kind::kFile;
  if (!s_.Int(location.line) || !s_.Expect(":") || !s_.Int(location.column)) return false;
  location.end_line = location.line;
  location.end_column = location.column;
  if (!s_.TryWord("to")) return true;
  if (!s_.Try(":") && (!s_.Int(location.end_line) || !s_.Expect(":"))) return false;
  return s_.Int(location.end_column);
}

bool MlirTextReader::ReadLocationBody(MlirLocation& location) {
  using Kind = MlirLocation::Kind;
  auto inner = [&] {
    location.inner.emplace_back();
    return ReadLocation(location.inner.back());
  };
  if (s_.Peek() == '"') {
    if (!s_.String(location.text)) return false;
    if (s_.Try(":")) return ReadFileRange(location);
    location.kind = Kind::kName;
    return !s_.Try("(") || (inner() && s_.Expect(")"));
  }
  const absl::string_view word = s_.Word();
  if (word == "unknown") return true;
  if (word == "callsite") {
    location.kind = Kind::kCallSite;
    return s_.Expect("(") && inner() && s_.ExpectWord("at") && inner() && s_.Expect(")");
  }
  if (word == "fused") {
    location.kind = Kind::kFused;
    const MlirAttribute* metadata = nullptr;
    if (s_.Try("<") && (!ReadAttribute(metadata) || !s_.Expect(">"))) return false;
    if (!s_.Expect("[") || !inner()) return false;
    while (s_.Try(","))
      if (!inner()) return false;
    return s_.Expect("]");
  }
  return s_.Fail("expected a location");
}

bool MlirTextReader::ReadLocation(const MlirLocation*& location) {
  if (s_.Try("#")) {
    const absl::string_view name = s_.Suffix();
    MlirLocation*& alias = location_aliases_[name];
    // Locations are defined behind their uses.
    if (alias == nullptr) alias = module_.Add(MlirLocation());
    location = alias;
    return true;
  }
  if (depth_ >= kMaxMlirDepth) return s_.Fail("locations nest too deeply");
  ++depth_;
  MlirLocation made;
  const bool done = ReadLocationBody(made);
  --depth_;
  location = module_.Add(std::move(made));
  return done;
}

bool MlirTextReader::ReadOptionalLocation(const MlirLocation*& location) {
  if (s_.PeekWord() != "loc") return true;
  s_.Word();
  return s_.Expect("(") && ReadLocation(location) && s_.Expect(")");
}

// `#loc3 = loc(...)`, `#map = ...`, `!alias = type`.
bool MlirTextReader::ReadAliasDefinition() {
  const SourcePlace place = {s_.offset(), 1};
  if (s_.Try("!")) {
    const absl::string_view name = s_.Suffix();
    return s_.Expect("=") && ReadType(type_aliases_[name]);
  }
  s_.Expect("#");
  const absl::string_view name = s_.Suffix();
  if (!s_.Expect("=")) return false;
  if (s_.PeekWord() == "loc") {
    MlirLocation*& alias = location_aliases_[name];
    if (alias == nullptr) alias = module_.Add(MlirLocation());
    MlirLocation* target = alias;
    const MlirLocation* read = nullptr;
    if (!ReadOptionalLocation(read)) return false;
    if (read != target) *target = *read;
    return true;
  }
  const MlirAttribute* value = nullptr;
  if (!ReadAttribute(value)) return false;
  return attribute_aliases_.emplace(name, value).second ||
         s_.FailAt(place, "the alias #", name, " is defined twice");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
