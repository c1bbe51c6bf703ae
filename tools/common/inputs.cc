// Arguments of modules: from files, from a snapshot, or random by seed, device and leaf; and values
// for constants that the text elides. Arguments are made for each device, unless all get the same
// or the module is to be cut by its shardings; of a parameter that is said to be replicated
// (parameter_replication={true}, sharding={replicated}) all get the same.
#include "tools/common/inputs.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/proto_file.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/input_files.h"
#include "tools/common/literal_files.h"
#include "types/random_literal.h"

namespace hlokit {
namespace {

RandomRanges RangesOf(const InputOptions& options) {
  return {options.float_range[0], options.float_range[1], options.int_range[0],
          options.int_range[1],   options.large_floats,   options.normal_inputs};
}

// --hlo-argument-mode=use_device_id_as_input; of pred, whether it is not the first device.
void FillWith(Literal& literal, int64_t device) {
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (IsComplex(literal.type())) {
      literal.SetComplex(i, static_cast<double>(device));
    } else if (IsFloat(literal.type())) {
      literal.SetDouble(i, static_cast<double>(device));
    } else {
      literal.SetInt(i, IsPred(literal.type()) ? device != 0 : device);
    }
  }
}

// Whether all devices are said to be given the same of a parameter: parameter_replication={true} of
// replicas, sharding={replicated} of partitions.
bool IsAlike(const Computation& entry, int64_t parameter) {
  const auto& replicated = entry.parameter(parameter)->attr<ParameterAttrs>().replicated;
  const ModuleHeader& header = entry.module()->header();
  const Sharding* sharding = entry.parameter(parameter)->sharding();
  if (header.replica_count == 1 && sharding != nullptr &&
      sharding->kind == Sharding::Kind::kReplicated)
    return true;
  return header.num_partitions == 1 && !replicated.empty() &&
         std::find(replicated.begin(), replicated.end(), false) == replicated.end();
}

std::vector<Literal> RandomArguments(const Computation& entry, const InputOptions& options,
                                     int64_t device) {
  std::vector<Literal> leaves;
  for (const ParameterLeaf& leaf : LeavesOfParameters(entry)) {
    leaves.push_back(options.random_inputs ? Literal::Unset(leaf.shape) : Literal(leaf.shape));
    if (options.device_inputs) FillWith(leaves.back(), device);
    if (!options.random_inputs) continue;
    const int64_t own = IsAlike(entry, leaf.parameter) ? 0 : device;
    FillRandom(leaves.back(), options.seed * 0x10001 + own * 0x101 + leaf.number,
               RangesOf(options));
  }
  return AssembleParameters(entry, std::move(leaves));
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

absl::StatusOr<InputFiles> OpenFiles(const InputOptions& options) {
  return InputFiles::Open(options.inputs, options.input_format, options.weights_map);
}

}  // namespace

absl::StatusOr<bool> InputsDifferByDevice(const InputOptions& options) {
  ASSIGN_OR_RETURN(const InputFiles files, OpenFiles(options));
  return files.DiffersByDevice(2);
}

absl::StatusOr<Arguments> Arguments::Make(const Module& module, const InputOptions& options,
                                          int64_t devices, const ShardedEntry& sharded,
                                          std::vector<int64_t> local) {
  if (module.entry() == nullptr) return InvalidArgument("the module has no entry computation");
  const Computation& entry = *module.entry();
  RETURN_IF_ERROR(CheckParameters(entry));
  if (local.empty()) {
    local.resize(static_cast<size_t>(devices));
    std::iota(local.begin(), local.end(), 0);
  }
  Arguments arguments;
  if (options.inputs.empty()) {
    if (sharded.active() || options.shared_inputs) local = {0};
    for (const int64_t d : local)
      arguments.by_device_.push_back(RandomArguments(entry, options, d));
    return arguments;
  }
  ASSIGN_OR_RETURN(const InputFiles files, OpenFiles(options));
  if (sharded.active() && files.DiffersByDevice(devices)) {
    ASSIGN_OR_RETURN(std::vector<Literal> wholes, files.ReadShards(entry, sharded, devices));
    arguments.by_device_.push_back(std::move(wholes));
    return arguments;
  }
  if (devices == 1 || !files.DiffersByDevice(devices)) local = {0};
  for (const int64_t d : local) {
    ASSIGN_OR_RETURN(std::vector<Literal> list, files.Read(entry, d));
    arguments.by_device_.push_back(std::move(list));
  }
  return arguments;
}

absl::StatusOr<Arguments> Arguments::MakeShards(const Module& module, const InputOptions& options,
                                                const ShardedEntry& cuts,
                                                absl::Span<const int64_t> local) {
  RETURN_IF_ERROR(CheckParameters(*module.entry()));
  ASSIGN_OR_RETURN(const InputFiles files, OpenFiles(options));
  Arguments arguments;
  for (const int64_t device : local) {
    ASSIGN_OR_RETURN(std::vector<Literal> shards, files.CutFor(*module.entry(), cuts, device));
    arguments.by_device_.push_back(std::move(shards));
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

Arguments Arguments::CutFor(const ShardedEntry& sharded, absl::Span<const int64_t> devices) const {
  Arguments cut;
  for (const int64_t d : devices)
    cut.by_device_.push_back(sharded.CutParameters(Pointers(1)[0], d));
  return cut;
}

std::vector<std::vector<const Literal*>> Arguments::Pointers(int64_t devices) const {
  std::vector<std::vector<const Literal*>> pointers(devices);
  for (int64_t d = 0; d < devices && !by_device_.empty(); ++d)
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

// The protobuf beside a text of a dump: `m.before_optimizations.hlo.pb` beside `....txt`; empty
// where there is none.
std::string SiblingOf(const Module& module) {
  if (module.source() == nullptr) return "";
  const std::string& name = module.source()->name();
  for (absl::string_view ending : {".txt", ".hlo"})
    for (const char* other : {".hlo.pb", ".pb"})
      if (absl::EndsWith(name, ending))
        if (std::string path = absl::StrCat(name.substr(0, name.size() - ending.size()), other);
            access(path.c_str(), R_OK) == 0)
          return path;
  return "";
}

// Values that the text leaves out, from the sibling, by the names of computations and constants. A
// sibling of another module has none that fit.
void FillFromSibling(Module& module) {
  const std::string path = SiblingOf(module);
  if (path.empty()) return;
  const auto bytes = ReadFile(path);
  if (!bytes.ok()) return;
  const auto sibling = ReadModuleFile(*bytes, ProtoEncoding::kBinary, ProtoOptions());
  if (!sibling.ok()) return;
  std::map<std::pair<absl::string_view, absl::string_view>, const Instruction*> constants;
  for (const Computation* c : static_cast<const Module&>(*sibling->module).Computations())
    for (const Instruction* i : c->Instructions())
      if (i->IsConstant() && i->literal() != nullptr) constants[{c->name(), i->name()}] = i;
  int64_t filled = 0;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions()) {
      if (!i->IsConstant() || i->literal() != nullptr) continue;
      const auto found = constants.find({c->name(), i->name()});
      if (found == constants.end() || !(found->second->shape() == i->shape())) continue;
      i->mutable_attr<ConstantAttrs>().literal = found->second->attr<ConstantAttrs>().literal;
      ++filled;
    }
  if (filled > 0)
    std::fprintf(stderr, "note: %lld constants that the text leaves out are those of %s\n",
                 static_cast<long long>(filled), path.c_str());
}

}  // namespace

absl::StatusOr<int64_t> FillElidedConstants(Module& module, const InputOptions& options) {
  for (const Computation* c : module.Computations()) {
    const std::vector<Instruction*> all = c->Instructions();
    if (std::any_of(all.begin(), all.end(), [](const Instruction* i) {
          return i->IsConstant() && i->literal() == nullptr;
        })) {
      FillFromSibling(module);
      break;
    }
  }
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
