// Operations, regions and values in MLIR text.
//
//   %0:2 = "stablehlo.while"(%a, %b) ({ ^bb0(%x: ...): ... }) : (types) -> types      generic
//   %0 = stablehlo.add %a, %b : tensor<4xf32>                                         pretty
// A name in quotes begins the generic form, which is the same for every operation. Any other name
// is of the pretty form: special_forms.cc for those with regions, else the row of forms.def.
// Values are kept in one table by name. A region's own names are recorded in order and taken out at
// its end, so nested regions need no stack of tables; an isolated region (a function's) sees none
// from outside. Uses before the definition are errors, as in MLIR without graph regions.
// Types are checked where the text states them: an operand whose stated type differs from its
// definition's is an error at the operation's place.
#include <algorithm>

#include "absl/strings/match.h"
#include "stablehlo/text/text_reader.h"
#include "stablehlo/text/text_reader_internal.h"
#include "support/status.h"

namespace hlokit {

bool MlirTextReader::IsIsolated(absl::string_view name) {
  return name == "func.func" || name == "builtin.module";
}

bool MlirTextReader::Define(absl::string_view name, std::vector<MlirValue*> values) {
  for (MlirValue* value : values) module_.Number(*value);
  if (name.empty()) return true;
  if (!values_.emplace(name, Definition{std::move(values)}).second)
    return s_.Fail("%", name, " is defined twice");
  defined_.push_back(name);
  return true;
}

bool MlirTextReader::ReadOperand(MlirValue*& value) {
  s_.Skip();
  const SourcePlace place = {s_.offset(), 1};
  if (!s_.Expect("%")) return false;
  const absl::string_view name = s_.Suffix();
  int64_t index = 0;
  if (s_.TryHere("#") && !s_.DigitsHere(index)) return false;
  const auto found = values_.find(name);
  if (found == values_.end()) return s_.FailAt(place, "%", name, " is not defined here");
  if (index >= static_cast<int64_t>(found->second.values.size()))
    return s_.FailAt(place, "%", name, " has no result ", index);
  value = found->second.values[index];
  ++value->uses;
  return true;
}

bool MlirTextReader::ReadOperands(std::vector<MlirValue*>& values) {
  if (s_.Peek() != '%') return true;
  while (true) {
    values.emplace_back();
    if (!ReadOperand(values.back())) return false;
    const uint32_t end = s_.offset();
    if (s_.Try(",") && s_.Peek() == '%') continue;
    s_.Rewind(end);
    return true;
  }
}

// `%0, %1:2 = `, where there is one.
bool MlirTextReader::ReadResultNames(std::vector<std::pair<absl::string_view, int64_t>>& names) {
  if (s_.Peek() != '%') return true;
  do {
    if (!s_.Expect("%")) return false;
    const absl::string_view name = s_.Suffix();
    int64_t count = 1;
    if (s_.TryHere(":") && !s_.DigitsHere(count)) return false;
    names.emplace_back(name, count);
  } while (s_.Try(","));
  return s_.Expect("=");
}

bool MlirTextReader::SetResults(MlirOperation& op, const std::vector<const MlirType*>& types) {
  for (const MlirType* type : types) op.results.push_back({type});
  return true;
}

bool MlirTextReader::CheckOperandTypes(const MlirOperation& op,
                                       const std::vector<const MlirType*>& types) {
  if (types.size() != op.operands.size())
    return s_.FailAt(op.place, op.name, ": ", op.operands.size(), " operands, but ", types.size(),
                     " types of operands");
  for (size_t i = 0; i < types.size(); ++i) {
    const MlirType &stated = *types[i], &own = *op.operands[i]->type;
    if (stated.kind != own.kind || stated.text != own.text || stated.shape != own.shape)
      return s_.FailAt(op.place, op.name, ": operand ", i, " is of type ", Text(own),
                       ", but the type stated is ", Text(stated));
  }
  return true;
}

bool MlirTextReader::DefineResults(const std::vector<std::pair<absl::string_view, int64_t>>& names,
                                   MlirOperation& op) {
  size_t next = 0;
  for (const auto& [name, count] : names) {
    if (count < 0 || count > static_cast<int64_t>(op.results.size() - next))
      return s_.FailAt(op.place, op.name, " has ", op.results.size(),
                       " results, not as many as names");
    std::vector<MlirValue*> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(&op.results[next++]);
    if (!Define(name, std::move(values))) return false;
  }
  if (!names.empty() && next != op.results.size())
    return s_.FailAt(op.place, op.name, " has ", op.results.size(), " results, but names for ",
                     next);
  while (next < op.results.size()) module_.Number(op.results[next++]);
  return true;
}

// `"stablehlo.add"(%0, %1) <{properties}> ({regions}) {attributes} : (types) -> types`.
bool MlirTextReader::ReadGeneric(MlirOperation& op) {
  std::string name;
  if (!s_.String(name)) return false;
  auto known = operation_names_.find(name);
  if (known == operation_names_.end()) {
    const absl::string_view kept = module_.Keep(name);
    const std::string common = CommonName(kept);
    const absl::string_view full = common == kept ? kept : module_.Keep(common);
    known = operation_names_.emplace(kept, full).first;
  }
  op.name = known->second;
  const bool versioned = known->first != known->second;  // the table changes in regions
  if (!s_.Expect("(") || !ReadOperands(op.operands) || !s_.Expect(")")) return false;
  if (s_.Peek() == '[') return s_.Fail("blocks with successors have no meaning in HLO");
  if (s_.Try("<{") && (!ReadDictionary(op.attributes) || !s_.Expect(">"))) return false;
  if (s_.Try("(")) {
    do {
      if (!ReadRegion(op, {}, IsIsolated(op.name))) return false;
    } while (s_.Try(","));
    if (!s_.Expect(")")) return false;
  }
  if (!ReadOptionalDictionary(op.attributes) || !s_.Expect(":")) return false;
  if (versioned) DropAbsent(op.attributes);
  std::vector<const MlirType*> in, out;
  return ReadFunctionType(in, out) && CheckOperandTypes(op, in) && SetResults(op, out);
}

bool MlirTextReader::ReadOperation(MlirBlock& block) {
  auto op = std::make_unique<MlirOperation>();
  std::vector<std::pair<absl::string_view, int64_t>> names;
  if (!ReadResultNames(names)) return false;
  s_.Skip();
  const uint32_t start = s_.offset();
  op->place = {start, 1};
  if (s_.Peek() == '"') {
    if (!ReadGeneric(*op)) return false;
  } else {
    const absl::string_view word = s_.Word();
    if (word.empty()) return s_.Fail("expected an operation");
    op->place.length = static_cast<uint32_t>(word.size());
    if (!ReadPretty(word, *op)) return false;
  }
  if (!ReadOptionalLocation(op->location) || !DefineResults(names, *op)) return false;
  block.operations.push_back(std::move(op));
  return true;
}

bool MlirTextReader::ReadBlockArguments(std::vector<BlockArgument>& arguments, const char* end) {
  if (s_.Try(end)) return true;
  do {
    BlockArgument argument{};
    if (!s_.Expect("%")) return false;
    argument.name = s_.Suffix();
    if (!s_.Expect(":") || !ReadType(argument.type) || !ReadOptionalLocation(argument.location))
      return false;
    arguments.push_back(argument);
  } while (s_.Try(","));
  return s_.Expect(end);
}

// `^bb0(%arg0: tensor<f32>):`.
bool MlirTextReader::ReadBlockHeader(std::vector<BlockArgument>& arguments) {
  s_.Expect("^");
  s_.Suffix();
  if (s_.Try("(") && !ReadBlockArguments(arguments, ")")) return false;
  return s_.Expect(":");
}

bool MlirTextReader::AddBlock(MlirRegion& region, const std::vector<BlockArgument>& arguments) {
  region.blocks.push_back(std::make_unique<MlirBlock>());
  MlirBlock& block = *region.blocks.back();
  for (const BlockArgument& argument : arguments) {
    block.arguments.push_back({argument.type});
    block.argument_locations.push_back(argument.location);
    if (!Define(argument.name, {&block.arguments.back()})) return false;
  }
  return true;
}

// Through the closing brace.
bool MlirTextReader::ReadRegionBody(MlirRegion& region, std::vector<BlockArgument> arguments) {
  if (s_.Peek() == '^' && !ReadBlockHeader(arguments)) return false;
  if (!AddBlock(region, arguments)) return false;
  while (!s_.Try("}")) {
    if (s_.Peek() == '^') return s_.Fail("regions of several blocks have no meaning in HLO");
    if (s_.AtEnd()) return s_.Fail("the region is not closed");
    if (!ReadOperation(*region.blocks.back())) return false;
  }
  return true;
}

// Names of a region end with it; isolated ones see none from outside.
bool MlirTextReader::ReadRegion(MlirOperation& op, std::vector<BlockArgument> arguments,
                                bool isolated) {
  if (depth_ >= kMaxMlirDepth) return s_.Fail("regions nest too deeply");
  if (!s_.Expect("{")) return false;
  ++depth_;
  decltype(values_) outer_values;
  decltype(defined_) outer_defined;
  if (isolated) {
    outer_values.swap(values_);
    outer_defined.swap(defined_);
  }
  const size_t defined = defined_.size();
  MlirRegion region;
  const bool done = ReadRegionBody(region, std::move(arguments));
  op.regions.push_back(std::move(region));
  for (; defined_.size() > defined; defined_.pop_back()) values_.erase(defined_.back());
  if (isolated) {
    values_.swap(outer_values);
    defined_.swap(outer_defined);
  }
  --depth_;
  return done;
}

// `{-# dialect_resources: { builtin: { key: "0x...", ... } } #-}` at the end of the text, found
// before the operations that name its keys are read.
bool MlirTextReader::ReadResources() {
  if (!s_.Expect("{-#")) return false;
  while (!s_.Try("#-}")) {
    if (s_.AtEnd()) return s_.Fail("the resources are not closed");
    s_.Try(",");
    const bool dialects = s_.TryWord("dialect_resources");
    if (!dialects && s_.Word().empty()) return s_.Fail("expected dialect_resources");
    if (!s_.Expect(":") || !s_.Expect("{")) return false;
    if (!dialects) {
      if (!s_.SkipBalanced()) return false;
      continue;
    }
    while (!s_.Try("}")) {
      s_.Try(",");
      if (s_.Word().empty() || !s_.Expect(":") || !s_.Expect("{"))
        return s_.Fail("expected a dialect");
      while (!s_.Try("}")) {
        s_.Try(",");
        absl::string_view key;
        if (s_.Peek() == '"') {
          key = s_.RawString();
        } else {
          s_.Skip();
          key = s_.Suffix();
        }
        if (key.empty() || !s_.Expect(":")) return s_.Fail("expected the key of a resource");
        const absl::string_view hex = s_.RawString();
        if (hex.data() == nullptr) return false;
        resources_[key] = hex;
      }
    }
  }
  return true;
}

bool MlirTextReader::ReadModule() {
  if (const size_t resources = s_.FindLast("{-#");
      resources != absl::string_view::npos && resources >= begin_) {
    s_.Rewind(static_cast<uint32_t>(resources));
    if (!ReadResources()) return false;
    s_.Rewind(static_cast<uint32_t>(begin_));
  }
  MlirOperation& top = module_.top();
  top.name = "builtin.module";
  top.regions.emplace_back();
  top.regions[0].blocks.push_back(std::make_unique<MlirBlock>());
  MlirBlock& block = *top.regions[0].blocks[0];
  while (!s_.AtEnd() && !s_.Looking("{-#")) {
    const bool alias = s_.Peek() == '#' || s_.Peek() == '!';
    if (alias ? !ReadAliasDefinition() : !ReadOperation(block)) return false;
  }
  if (block.operations.size() != 1 || block.operations[0]->name != "builtin.module") return true;
  std::unique_ptr<MlirOperation> inner = std::move(block.operations[0]);
  top.attributes = std::move(inner->attributes);
  top.place = inner->place;
  top.location = inner->location;
  auto regions = std::move(inner->regions);
  top.regions = std::move(regions);
  return true;
}

const MlirAttribute* MlirTextReader::ReadLoneAttribute() {
  const MlirAttribute* attribute = nullptr;
  return ReadAttribute(attribute) ? attribute : nullptr;
}

const MlirType* MlirTextReader::ReadLoneType() {
  const MlirType* type = nullptr;
  return ReadType(type) ? type : nullptr;
}

absl::StatusOr<const MlirAttribute*> ReadMlirAttribute(absl::string_view text, MlirModule& module) {
  MlirTextReader reader(text, module);
  const MlirAttribute* attribute = reader.ReadLoneAttribute();
  if (attribute == nullptr) return reader.status();
  return attribute;
}

absl::StatusOr<const MlirType*> ReadMlirType(absl::string_view text, MlirModule& module) {
  MlirTextReader reader(text, module);
  const MlirType* type = reader.ReadLoneType();
  if (type == nullptr) return reader.status();
  return type;
}

absl::StatusOr<std::unique_ptr<MlirModule>> ReadMlirText(absl::string_view text, size_t begin) {
  if (text.size() >= 0xFFFFFFFFu) return InvalidArgument("MLIR text of 4 GiB and more is not read");
  auto module = std::make_unique<MlirModule>();
  MlirTextReader reader(text, *module, begin);
  if (!reader.ReadModule()) return reader.status();
  return module;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
