// Files of arrays, matched to the leaves of entry parameters.
#include "tools/common/input_files.h"

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "parser/parser.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/literal_files.h"

namespace hlokit {
namespace {

// Puts the arrays back into tuples; `next` walks over them.
Literal Assemble(const Shape& shape, std::vector<Literal>& leaves, size_t& next) {
  if (shape.IsToken()) return Literal::Token();
  if (!shape.IsTuple()) return std::move(leaves[next++]);
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements) elements.push_back(Assemble(element, leaves, next));
  return Literal::Tuple(std::move(elements));
}

// --input-format, else what the ending of the file's name says; empty where neither does.
std::string FormatOf(const std::string& path, const std::string& given) {
  if (!given.empty()) return given;
  for (const char* format : {"npz", "npy", "txt", "bin", "pb", "pbtxt"})
    if (absl::EndsWithIgnoreCase(path, absl::StrCat(".", format))) return format;
  return "";
}

// The elements as they lie in memory, row-major and without a header: the size must match exactly.
absl::StatusOr<Literal> ReadBinary(const std::string& path, const ParameterLeaf& leaf) {
  ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  const int64_t expected = leaf.shape.ByteSize();
  if (static_cast<int64_t>(file.bytes().size()) != expected)
    return InvalidArgument(leaf.label, ": expected ", Text(leaf.shape), " of ", expected,
                           " bytes, ", path, " has ", file.bytes().size());
  Literal literal = Literal::Unset(leaf.shape);
  if (expected > 0) std::memcpy(literal.data(), file.bytes().data(), expected);
  return literal;
}

}  // namespace

// Arrays of all parameters in order, tokens left out; numbers count arrays.
std::vector<ParameterLeaf> LeavesOfParameters(const Computation& entry,
                                              const ShardedEntry* sharded) {
  std::vector<ParameterLeaf> leaves;
  for (const Instruction* parameter : entry.parameters()) {
    for (const ShapeLeaf& part : Leaves(parameter->shape())) {
      if (part.shape->IsToken()) continue;
      ParameterLeaf leaf;
      leaf.number = static_cast<int64_t>(leaves.size());
      leaf.parameter = parameter->parameter_number();
      leaf.shape = sharded == nullptr ? *part.shape
                                      : ShardShape(*part.shape, sharded->parameters[leaf.number]);
      leaf.name = parameter->name();
      leaf.label = absl::StrCat("parameter ", leaf.parameter);
      for (int64_t i : part.index) {
        absl::StrAppend(&leaf.name, ".", i);
        absl::StrAppend(&leaf.label, " {", i, "}");
      }
      absl::StrAppend(&leaf.label, " (", parameter->name(), ")");
      leaves.push_back(std::move(leaf));
    }
  }
  return leaves;
}

std::vector<Literal> AssembleParameters(const Computation& entry, std::vector<Literal> leaves) {
  std::vector<Literal> arguments;
  size_t next = 0;
  for (const Instruction* parameter : entry.parameters())
    arguments.push_back(Assemble(parameter->shape(), leaves, next));
  return arguments;
}

absl::StatusOr<InputFiles> InputFiles::Open(const std::vector<std::string>& paths,
                                            const std::string& given) {
  InputFiles files;
  for (const std::string& path : paths) {
    const std::string format = FormatOf(path, given);
    if (format.empty())
      return InvalidArgument(
          path, ": the name tells no format; --input-format=npz, npy, txt, bin or pb does");
    if (IsProtoFormat(format)) {
      ASSIGN_OR_RETURN(LiteralFile held, ReadLiterals(path));
      for (Literal& literal : held.arguments)
        files.single_.push_back({path, format, std::make_shared<Literal>(std::move(literal))});
      continue;
    }
    if (format != "npz") {
      files.single_.push_back({path, format, nullptr});
      continue;
    }
    ASSIGN_OR_RETURN(NpzFile archive, NpzFile::Open(path));
    files.archives_.push_back(std::move(archive));
    files.archive_paths_.push_back(path);
  }
  return files;
}

bool InputFiles::DiffersByDevice(int64_t devices) const {
  for (const NpzFile& archive : archives_)
    for (const std::string& name : archive.names())
      for (int64_t d = 0; d < devices; ++d)
        if (absl::EndsWith(name, absl::StrCat(".d", d)) && absl::StartsWith(name, "in"))
          return true;
  return false;
}

absl::StatusOr<std::vector<Literal>> InputFiles::Read(const Computation& entry,
                                                      int64_t device) const {
  const std::vector<ParameterLeaf> leaves = LeavesOfParameters(entry);
  if (single_.size() == static_cast<size_t>(entry.parameter_count()) &&
      single_.size() != leaves.size())
    return ReadParameters(entry);
  ASSIGN_OR_RETURN(std::vector<Literal> values, ReadLeaves(leaves, device));
  if (single_.size() > leaves.size())
    return InvalidArgument(single_.size(), " inputs, but the module's parameters hold ",
                           leaves.size(), " arrays");
  return AssembleParameters(entry, std::move(values));
}

absl::StatusOr<std::vector<Literal>> InputFiles::ReadShards(const Computation& entry,
                                                            const ShardedEntry& sharded,
                                                            int64_t devices) const {
  const std::vector<ParameterLeaf> parts = LeavesOfParameters(entry, &sharded);
  const std::vector<ParameterLeaf> wholes = LeavesOfParameters(entry);
  std::vector<std::vector<Literal>> by_device;
  for (int64_t device = 0; device < devices; ++device) {
    ASSIGN_OR_RETURN(std::vector<Literal> shards, ReadLeaves(parts, device));
    by_device.push_back(std::move(shards));
  }
  std::vector<Literal> values;
  for (size_t i = 0; i < wholes.size(); ++i) {
    std::vector<const Literal*> shards;
    for (const std::vector<Literal>& list : by_device) shards.push_back(&list[i]);
    values.push_back(JoinShards(wholes[i].shape, sharded.parameters[i], shards));
  }
  return AssembleParameters(entry, std::move(values));
}

absl::StatusOr<std::vector<Literal>> InputFiles::ReadLeaves(
    const std::vector<ParameterLeaf>& leaves, int64_t device) const {
  std::vector<Literal> values;
  for (const ParameterLeaf& leaf : leaves) {
    ASSIGN_OR_RETURN(Literal value, ReadLeaf(leaf, device));
    values.push_back(std::move(value));
  }
  return values;
}

absl::StatusOr<std::vector<Literal>> InputFiles::ReadParameters(const Computation& entry) const {
  std::vector<Literal> values;
  for (const Instruction* parameter : entry.parameters()) {
    const Single& file = single_[parameter->parameter_number()];
    if (file.format != "txt" && file.literal == nullptr && parameter->shape().IsTuple())
      return InvalidArgument("parameter ", parameter->parameter_number(), " (", parameter->name(),
                             ") is a tuple: give its arrays one by one, or as .txt");
    ParameterLeaf leaf;
    leaf.label =
        absl::StrCat("parameter ", parameter->parameter_number(), " (", parameter->name(), ")");
    leaf.shape = parameter->shape();
    ASSIGN_OR_RETURN(Literal value, ReadSingle(file, leaf));
    values.push_back(std::move(value));
  }
  return values;
}

absl::StatusOr<Literal> InputFiles::ReadSingle(const Single& file, const ParameterLeaf& leaf) {
  if (file.literal != nullptr) return FitLiteral(*file.literal, leaf.shape, leaf.label);
  if (file.format == "bin") return ReadBinary(file.path, leaf);
  if (file.format == "npy") {
    ASSIGN_OR_RETURN(const NumpyArray array, ReadNpy(file.path));
    return ToLiteral(array, leaf.shape, leaf.label);
  }
  ASSIGN_OR_RETURN(std::string text, ReadFile(file.path));
  auto literal = ParseLiteral(text, leaf.shape);
  if (literal.ok()) return literal;
  const LineColumn at =
      SourceFile(file.path, std::move(text)).Locate(PlaceOf(literal.status()).offset);
  return InvalidArgument(leaf.label, ": ", file.path, ":", at.line, ":", at.column, ": ",
                         literal.status().message());
}

absl::StatusOr<Literal> InputFiles::ReadLeaf(const ParameterLeaf& leaf, int64_t device) const {
  for (const std::string& name :
       {absl::StrCat("in", leaf.number, ".d", device), absl::StrCat("in", leaf.number), leaf.name,
        absl::StrCat("arr_", leaf.number)}) {
    for (const NpzFile& archive : archives_) {
      if (!archive.Contains(name)) continue;
      ASSIGN_OR_RETURN(const NumpyArray array, archive.Read(name));
      return ToLiteral(array, leaf.shape, leaf.label);
    }
  }
  if (leaf.number < static_cast<int64_t>(single_.size()))
    return ReadSingle(single_[leaf.number], leaf);
  if (archive_paths_.empty())
    return InvalidArgument(leaf.label, ": no input; expected ", Text(leaf.shape), " as input ",
                           leaf.number);
  return InvalidArgument(leaf.label, ": expected ", Text(leaf.shape), ", but ",
                         archive_paths_.front(), " has no in", leaf.number, ", ", leaf.name,
                         " or arr_", leaf.number);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
