// Files of arrays, matched to the leaves of entry parameters.
#include "tools/common/input_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "parser/parser.h"
#include "support/file.h"
#include "support/json_value.h"
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
  for (const char* format : {"npz", "safetensors", "npy", "txt", "bin", "pb", "pbtxt"})
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

// {"parameter": "array"}.
absl::StatusOr<absl::flat_hash_map<std::string, std::string>> ReadMap(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  const SourceFile file(path, std::move(text));
  const auto error = [&](SourcePlace place, absl::string_view message) {
    const LineColumn at = file.Locate(place.offset);
    return InvalidArgument(path, ":", at.line, ":", at.column, ": ", message);
  };
  const auto json = ParseJson(file.text());
  if (!json.ok()) return error(PlaceOf(json.status()), json.status().message());
  if (json->kind != JsonValue::Kind::kObject)
    return error(json->place, "expected an object of names");
  absl::flat_hash_map<std::string, std::string> map;
  for (const auto& [name, value] : json->members) {
    if (value.kind != JsonValue::Kind::kString)
      return error(value.place, "expected the name of an array, a string");
    map[name] = value.text;
  }
  return map;
}

// A device's part of an array that lies in row-major order, and zeros where an uneven cut leaves
// rows that are not of it: rows of the last dimension, one after the other.
absl::StatusOr<Literal> CutArray(const NumpyArray& whole, const ParameterLeaf& leaf,
                                 const Tiling& tiling, int64_t device) {
  const Shape shape = ShardShape(leaf.shape, tiling);
  DimVector starts, sizes;
  ShardBox(whole.shape, tiling, device, starts, sizes);
  auto bytes = std::make_shared<std::string>(shape.ElementCount() * whole.itemsize, '\0');
  const int rank = shape.rank();
  const int64_t run = rank == 0 ? 1 : sizes[rank - 1];
  bool left = std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size > 0; });
  for (DimVector at(rank, 0); left;) {
    int64_t from = 0, to = 0;
    for (int d = 0; d < rank; ++d) {
      from = from * whole.shape[d] + starts[d] + at[d];
      to = to * shape.dims[d] + at[d];
    }
    std::memcpy(bytes->data() + to * whole.itemsize, whole.bytes.data() + from * whole.itemsize,
                run * whole.itemsize);
    int d = rank - 2;
    while (d >= 0 && ++at[d] == sizes[d]) at[d--] = 0;
    left = d >= 0;
  }
  NumpyArray part = whole;
  part.shape = shape.dims;
  part.bytes = *bytes;
  part.storage = bytes;
  return ToLiteral(part, shape, leaf.label);
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

std::vector<DimVector> InputSizes(const std::vector<std::string>& paths,
                                  const std::string& format) {
  std::vector<DimVector> sizes;
  for (const std::string& path : paths) {
    const std::string kind = FormatOf(path, format);
    if (kind == "npy") {
      const auto array = ReadNpy(path);
      if (array.ok()) sizes.push_back(array->shape);
    }
    if (kind == "txt") {
      const auto text = ReadFile(path);
      if (!text.ok()) continue;
      const auto literal = ParseLiteral(*text);
      if (literal.ok() && literal->shape().IsArray()) sizes.push_back(literal->shape().dims);
    }
    if (kind != "npz") continue;
    const auto archive = NpzFile::Open(path);
    if (!archive.ok()) continue;
    for (std::string name = "in0"; archive->Contains(name);
         name = absl::StrCat("in", sizes.size())) {
      const auto array = archive->Read(name);
      if (!array.ok()) break;
      sizes.push_back(array->shape);
    }
  }
  return sizes;
}

absl::StatusOr<InputFiles> InputFiles::Open(const std::vector<std::string>& paths,
                                            const std::string& given, const std::string& map) {
  InputFiles files;
  if (!map.empty()) {
    ASSIGN_OR_RETURN(files.map_, ReadMap(map));
  }
  for (const std::string& path : paths) {
    if (std::filesystem::is_directory(path)) {
      ASSIGN_OR_RETURN(Folder folder, OpenFolder(path));
      files.folders_.push_back(std::move(folder));
      files.archive_paths_.push_back(path);
      continue;
    }
    const std::string format = FormatOf(path, given);
    if (format.empty())
      return InvalidArgument(
          path,
          ": the name tells no format; --input-format=npz, safetensors, npy, txt, bin or pb does");
    if (IsProtoFormat(format)) {
      ASSIGN_OR_RETURN(LiteralFile held, ReadLiterals(path));
      for (Literal& literal : held.arguments)
        files.single_.push_back({path, format, std::make_shared<Literal>(std::move(literal))});
      continue;
    }
    if (format == "safetensors") {
      ASSIGN_OR_RETURN(SafetensorsFile tensors, SafetensorsFile::Open(path));
      files.tensors_.push_back(std::move(tensors));
      files.archive_paths_.push_back(path);
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

bool InputFiles::Folder::Contains(const std::string& name) const {
  return std::binary_search(names.begin(), names.end(), name);
}

absl::StatusOr<InputFiles::Folder> InputFiles::OpenFolder(const std::string& path) {
  Folder folder{path, {}};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error))
    if (entry.path().extension() == ".npy") folder.names.push_back(entry.path().stem().string());
  if (error) return InvalidArgument(path, ": ", error.message());
  if (folder.names.empty()) return InvalidArgument(path, ": a folder without .npy files");
  std::sort(folder.names.begin(), folder.names.end());
  return folder;
}

bool InputFiles::DiffersByDevice(int64_t devices) const {
  const auto names_devices = [&](const std::vector<std::string>& names) {
    for (const std::string& name : names)
      for (int64_t d = 0; d < devices; ++d)
        if (absl::EndsWith(name, absl::StrCat(".d", d)) && absl::StartsWith(name, "in"))
          return true;
    return false;
  };
  for (const NpzFile& archive : archives_)
    if (names_devices(archive.names())) return true;
  for (const SafetensorsFile& tensors : tensors_)
    if (names_devices(tensors.names())) return true;
  for (const Folder& folder : folders_)
    if (names_devices(folder.names)) return true;
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

absl::StatusOr<std::optional<NumpyArray>> InputFiles::Find(const ParameterLeaf& leaf,
                                                           int64_t device) const {
  std::vector<std::string> names = {absl::StrCat("in", leaf.number, ".d", device),
                                    absl::StrCat("in", leaf.number), leaf.name,
                                    absl::StrCat("arr_", leaf.number)};
  if (const auto mapped = map_.find(leaf.name); mapped != map_.end()) names = {mapped->second};
  for (const std::string& name : names) {
    for (const NpzFile& archive : archives_)
      if (archive.Contains(name)) return archive.Read(name);
    for (const SafetensorsFile& tensors : tensors_)
      if (tensors.Contains(name)) return tensors.Read(name, leaf.shape.type, leaf.label);
    for (const Folder& folder : folders_)
      if (folder.Contains(name)) return ReadNpy(absl::StrCat(folder.path, "/", name, ".npy"));
  }
  if (map_.contains(leaf.name))
    return InvalidArgument(leaf.label, ": no input holds ", names[0],
                           ", which --weights-map names");
  return std::nullopt;
}

absl::StatusOr<std::vector<Literal>> InputFiles::CutFor(const Computation& entry,
                                                        const ShardedEntry& cuts,
                                                        int64_t device) const {
  std::vector<Literal> shards;
  for (const ParameterLeaf& leaf : LeavesOfParameters(entry)) {
    const Tiling& tiling = cuts.parameters[leaf.number];
    ASSIGN_OR_RETURN(const std::optional<NumpyArray> array, Find(leaf, device));
    if (array && !array->fortran_order && array->shape == leaf.shape.dims) {
      ASSIGN_OR_RETURN(Literal shard, CutArray(*array, leaf, tiling, device));
      shards.push_back(std::move(shard));
      continue;
    }
    ASSIGN_OR_RETURN(const Literal whole, ReadLeaf(leaf, device));
    shards.push_back(ShardOf(whole, tiling, device));
  }
  return AssembleParameters(entry, std::move(shards));
}

absl::StatusOr<Literal> InputFiles::ReadLeaf(const ParameterLeaf& leaf, int64_t device) const {
  ASSIGN_OR_RETURN(const std::optional<NumpyArray> array, Find(leaf, device));
  if (array) return ToLiteral(*array, leaf.shape, leaf.label);
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
