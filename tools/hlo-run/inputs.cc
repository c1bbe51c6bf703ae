// Files of arrays, matched to the leaves of entry parameters.
#include "tools/hlo-run/inputs.h"

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "parser/parser.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/hlo-run/literal_files.h"
#include "types/npz.h"
#include "types/random_literal.h"

namespace hlokit {
namespace {

// One array of one parameter.
struct Leaf {
  int64_t parameter = 0, number = 0;  // of the parameter; among all leaves
  std::string label;                  // "parameter 2 {1} (weights)"
  std::string name;                   // the parameter's, with the index: weights.1
  Shape shape;
};

// `sharded` non-null: of each array the shard of one device.
std::vector<Leaf> LeavesOfParameters(const Computation& entry,
                                     const ShardedEntry* sharded = nullptr) {
  std::vector<Leaf> leaves;
  for (const Instruction* parameter : entry.parameters()) {
    for (const ShapeLeaf& part : Leaves(parameter->shape())) {
      if (part.shape->IsToken()) continue;
      Leaf leaf;
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

// Puts the arrays back into tuples; `next` walks over them.
Literal Assemble(const Shape& shape, std::vector<Literal>& leaves, size_t& next) {
  if (shape.IsToken()) return Literal::Token();
  if (!shape.IsTuple()) return std::move(leaves[next++]);
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements) elements.push_back(Assemble(element, leaves, next));
  return Literal::Tuple(std::move(elements));
}

std::vector<Literal> AssembleAll(const Computation& entry, std::vector<Literal> leaves) {
  std::vector<Literal> arguments;
  size_t next = 0;
  for (const Instruction* parameter : entry.parameters())
    arguments.push_back(Assemble(parameter->shape(), leaves, next));
  return arguments;
}

std::string FormatOf(const std::string& path, const std::string& given) {
  if (!given.empty()) return given;
  for (const char* format : {"npz", "npy", "txt", "bin", "pb", "pbtxt"})
    if (absl::EndsWithIgnoreCase(path, absl::StrCat(".", format))) return format;
  return "";
}

absl::StatusOr<Literal> ReadBinary(const std::string& path, const Leaf& leaf) {
  ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  const int64_t expected = leaf.shape.ByteSize();
  if (static_cast<int64_t>(file.bytes().size()) != expected)
    return InvalidArgument(leaf.label, ": expected ", Text(leaf.shape), " of ", expected,
                           " bytes, ", path, " has ", file.bytes().size());
  Literal literal = Literal::Unset(leaf.shape);
  if (expected > 0) std::memcpy(literal.data(), file.bytes().data(), expected);
  return literal;
}

// The inputs of one call: archives by name, single files by position.
class InputFiles {
 public:
  static absl::StatusOr<InputFiles> Open(const RunOptions& options) {
    InputFiles files;
    for (const std::string& path : options.inputs) {
      const std::string format = FormatOf(path, options.input_format);
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

  // Whether some array is meant for one device only.
  bool DiffersByDevice(int64_t devices) const {
    for (const NpzFile& archive : archives_)
      for (const std::string& name : archive.names())
        for (int64_t d = 0; d < devices; ++d)
          if (absl::EndsWith(name, absl::StrCat(".d", d)) && absl::StartsWith(name, "in"))
            return true;
    return false;
  }

  absl::StatusOr<std::vector<Literal>> Read(const Computation& entry, int64_t device) const {
    const std::vector<Leaf> leaves = LeavesOfParameters(entry);
    if (single_.size() == static_cast<size_t>(entry.parameter_count()) &&
        single_.size() != leaves.size())
      return ReadParameters(entry);
    ASSIGN_OR_RETURN(std::vector<Literal> values, ReadLeaves(leaves, device));
    if (single_.size() > leaves.size())
      return InvalidArgument(single_.size(), " inputs, but the module's parameters hold ",
                             leaves.size(), " arrays");
    return AssembleAll(entry, std::move(values));
  }

  // Whole arrays, of the shards that the files hold for each device.
  absl::StatusOr<std::vector<Literal>> ReadShards(const Computation& entry,
                                                  const ShardedEntry& sharded,
                                                  int64_t devices) const {
    const std::vector<Leaf> parts = LeavesOfParameters(entry, &sharded);
    const std::vector<Leaf> wholes = LeavesOfParameters(entry);
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
    return AssembleAll(entry, std::move(values));
  }

 private:
  struct Single {
    std::string path, format;
    std::shared_ptr<const Literal> literal;  // of a protobuf file, which may hold several
  };

  absl::StatusOr<std::vector<Literal>> ReadLeaves(const std::vector<Leaf>& leaves,
                                                  int64_t device) const {
    std::vector<Literal> values;
    for (const Leaf& leaf : leaves) {
      ASSIGN_OR_RETURN(Literal value, ReadLeaf(leaf, device));
      values.push_back(std::move(value));
    }
    return values;
  }

  // One literal file a parameter, tuples included.
  absl::StatusOr<std::vector<Literal>> ReadParameters(const Computation& entry) const {
    std::vector<Literal> values;
    for (const Instruction* parameter : entry.parameters()) {
      const Single& file = single_[parameter->parameter_number()];
      if (file.format != "txt" && file.literal == nullptr && parameter->shape().IsTuple())
        return InvalidArgument("parameter ", parameter->parameter_number(), " (", parameter->name(),
                               ") is a tuple: give its arrays one by one, or as .txt");
      Leaf leaf;
      leaf.label =
          absl::StrCat("parameter ", parameter->parameter_number(), " (", parameter->name(), ")");
      leaf.shape = parameter->shape();
      ASSIGN_OR_RETURN(Literal value, ReadSingle(file, leaf));
      values.push_back(std::move(value));
    }
    return values;
  }

  static absl::StatusOr<Literal> ReadSingle(const Single& file, const Leaf& leaf) {
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

  absl::StatusOr<Literal> ReadLeaf(const Leaf& leaf, int64_t device) const {
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

  std::vector<NpzFile> archives_;
  std::vector<std::string> archive_paths_;
  std::vector<Single> single_;
};

RandomRanges RangesOf(const RunOptions& options) {
  return {options.float_range[0], options.float_range[1], options.int_range[0],
          options.int_range[1], options.large_floats};
}

std::vector<Literal> RandomArguments(const Computation& entry, const RunOptions& options,
                                     int64_t device) {
  std::vector<Literal> leaves;
  for (const Leaf& leaf : LeavesOfParameters(entry)) {
    leaves.push_back(options.random_inputs ? Literal::Unset(leaf.shape) : Literal(leaf.shape));
    if (!options.random_inputs) continue;
    FillRandom(leaves.back(), options.seed * 0x10001 + device * 0x101 + leaf.number,
               RangesOf(options));
  }
  return AssembleAll(entry, std::move(leaves));
}

// Arguments and results must fit into memory, and every size must be known.
absl::Status CheckParameters(const Computation& entry) {
  std::vector<const Shape*> shapes;
  for (const Instruction* parameter : entry.parameters()) {
    if (parameter == nullptr)
      return InvalidArgument("a number among the entry's parameters is missing");
    if (parameter->shape().HasUnboundedDims())
      return Unimplemented("parameter ", parameter->parameter_number(), " (", parameter->name(),
                           ") has a dimension without bound: ", Text(parameter->shape()));
    shapes.push_back(&parameter->shape());
  }
  if (entry.root() != nullptr) shapes.push_back(&entry.root()->shape());
  return CheckFits(shapes);
}

}  // namespace

absl::StatusOr<bool> InputsDifferByDevice(const RunOptions& options) {
  ASSIGN_OR_RETURN(const InputFiles files, InputFiles::Open(options));
  return files.DiffersByDevice(2);
}

absl::StatusOr<Arguments> Arguments::Make(const Module& module, const RunOptions& options,
                                          int64_t devices, const ShardedEntry& sharded) {
  if (module.entry() == nullptr) return InvalidArgument("the module has no entry computation");
  const Computation& entry = *module.entry();
  RETURN_IF_ERROR(CheckParameters(entry));
  Arguments arguments;
  if (options.inputs.empty()) {
    for (int64_t d = 0; d < (sharded.active() || options.shared_inputs ? 1 : devices); ++d)
      arguments.by_device_.push_back(RandomArguments(entry, options, d));
    return arguments;
  }
  ASSIGN_OR_RETURN(const InputFiles files, InputFiles::Open(options));
  if (sharded.active() && files.DiffersByDevice(devices)) {
    ASSIGN_OR_RETURN(std::vector<Literal> wholes, files.ReadShards(entry, sharded, devices));
    arguments.by_device_.push_back(std::move(wholes));
    return arguments;
  }
  const int64_t lists = devices > 1 && files.DiffersByDevice(devices) ? devices : 1;
  for (int64_t d = 0; d < lists; ++d) {
    ASSIGN_OR_RETURN(std::vector<Literal> list, files.Read(entry, d));
    arguments.by_device_.push_back(std::move(list));
  }
  return arguments;
}

absl::StatusOr<Arguments> Arguments::OfSnapshot(const Module& module,
                                                std::vector<std::vector<Literal>> by_device,
                                                int64_t devices) {
  if (by_device.size() != 1 && static_cast<int64_t>(by_device.size()) != devices)
    return InvalidArgument("the snapshot holds arguments for ", by_device.size(),
                           " devices, the module runs on ", devices);
  Arguments arguments;
  ASSIGN_OR_RETURN(arguments.by_device_, FitArguments(module, std::move(by_device)));
  return arguments;
}

std::vector<DeviceArguments> Arguments::Pointers(int64_t devices) const {
  std::vector<DeviceArguments> pointers(devices);
  for (int64_t d = 0; d < devices; ++d)
    for (const Literal& literal : by_device_[by_device_.size() == 1 ? 0 : d])
      pointers[d].push_back(&literal);
  return pointers;
}

std::vector<Literal*> Arguments::Given() {
  std::vector<Literal*> given;
  if (by_device_.size() != 1) return given;
  for (Literal& literal : by_device_[0]) given.push_back(&literal);
  return given;
}

namespace {

// What XLA's own reader stands in for a value that the text leaves out: 32-bit words that count on
// from constant to constant (bytes of pred keep their lowest bit).
void FillAsXla(Literal& literal, uint32_t& next) {
  const uint32_t mask = IsPred(literal.type()) ? 0x01010101 : 0xffffffff;
  uint8_t* bytes = literal.data();
  for (int64_t at = 0; at + 4 <= literal.byte_size(); at += 4) {
    const uint32_t word = next++ & mask;
    std::memcpy(bytes + at, &word, sizeof(word));
  }
}

}  // namespace

absl::StatusOr<int64_t> FillElidedConstants(Module& module, const RunOptions& options) {
  int64_t filled = 0;
  uint32_t next_word = 0;
  for (Computation* computation : module.Computations()) {
    for (Instruction* i : computation->Instructions()) {
      if (!i->IsConstant() || i->literal() != nullptr) continue;
      if (options.elided_constants == "refuse" || !i->shape().IsArray())
        return WithPlace(
            InvalidArgument("the text leaves out the value of constant %", i->name(), " (",
                            Text(i->shape()),
                            "); --elided-constants=zeros, random or xla stands one in"),
            i->place());
      RETURN_IF_ERROR(CheckFits({&i->shape()}));
      auto literal = std::make_shared<Literal>(i->shape());
      if (options.elided_constants == "random")
        FillRandom(*literal, options.seed + ~filled, RangesOf(options));
      if (options.elided_constants == "xla") FillAsXla(*literal, next_word);
      i->mutable_attr<ConstantAttrs>().literal = std::move(literal);
      ++filled;
    }
  }
  return filled;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
