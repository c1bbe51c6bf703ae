// Programs: compiled from StableHLO or HLO, kept with what executables answer of them.
//
// Compiling reads the format that the framework names ("mlir": StableHLO in any form, "hlo": an
// HloModuleProto), partitions where shardings ask for it, runs the CPU's pipeline, and notes once
// what calls ask for each time: shapes, donated parameters, costs, whether a run is short enough
// for the calling thread. Serialized programs hold all of it, so that a cache's entry needs no
// compiler.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ffi/registry.h"
#include "ops/collective/shards.h"
#include "parser/parser.h"
#include "pjrt/guarded.h"
#include "pjrt/inspections.h"
#include "pjrt/region_parts.h"
#include "proto/proto_file.h"
#include "stablehlo/stablehlo.h"
#include "support/diagnostics.h"
#include "support/text.h"

namespace hlokit {
namespace {

// The arrays of a value; of an array, itself.
std::vector<Shape> ArraysOf(const Shape& shape) {
  if (!shape.IsTuple()) return {shape};
  return {shape.elements.begin(), shape.elements.end()};
}

// "mlir" is StableHLO in any form, "hlo" an HloModuleProto.
absl::StatusOr<std::unique_ptr<Module>> ReadProgram(absl::string_view format,
                                                    absl::string_view code,
                                                    EntryWishes* wishes = nullptr) {
  if (const char* folder = std::getenv("HLOKIT_PJRT_DUMP_TO"); folder != nullptr) {
    static std::atomic<int> count = 0;
    const std::string name = absl::StrCat(folder, "/program.", count++, ".", format);
    if (FILE* file = std::fopen(name.c_str(), "wb"); file != nullptr) {
      std::fwrite(code.data(), 1, code.size(), file);
      std::fclose(file);
    }
  }
  if (format == "mlir") {
    ASSIGN_OR_RETURN(
        auto module,
        ReadStablehlo(std::make_shared<SourceFile>("program", std::string(code)), wishes));
    // Transposed results keep their elements in place in the module; buffers are row-major.
    auto& layout = module->header().entry_layout;
    if (layout) layout->result = layout->result.WithDefaultLayout();
    return module;
  }
  if (format == "hlo") return ReadModuleProto(code);
  return Unimplemented("programs of format \"", format, "\"; \"mlir\" and \"hlo\" are read");
}

// The parameters whose buffers a run may take over.
std::vector<bool> DonatedBy(const ModuleHeader& header, size_t parameters) {
  std::vector<bool> donated(parameters, false);
  const auto mark = [&](int64_t parameter) {
    if (static_cast<size_t>(parameter) < parameters) donated[static_cast<size_t>(parameter)] = true;
  };
  for (const InputOutputAlias& alias : header.aliases) mark(alias.parameter);
  for (const BufferDonor& donor : header.donors) mark(donor.parameter);
  return donated;
}

PjrtModule::Kinds KindsOf(const std::vector<MemoryWish>& wishes) {
  PjrtModule::Kinds kinds;
  for (const MemoryWish& wish : wishes) {
    size_t index = 0;
    for (size_t k = 0; k < std::size(kMemoryKinds); ++k)
      if (wish.kind == kMemoryKinds[k]) index = k;
    kinds.indices.push_back(index);
    kinds.names.push_back(kMemoryKinds[index]);
    kinds.sizes.push_back(std::strlen(kMemoryKinds[index]));
  }
  return kinds;
}

// What the interface asks of results, in its form. Frameworks take tokens for empty arrays.
void DescribeOutputs(PjrtModule& made) {
  for (Shape& shape : made.outputs)
    if (shape.IsToken()) shape = Shape::Array(ElementType::kPred, {0});
  for (const Shape& shape : made.outputs) {
    made.output_types.push_back(TypeToPjrt(shape.type));
    made.output_dims.insert(made.output_dims.end(), shape.dims.begin(), shape.dims.end());
    made.output_ranks.push_back(shape.dims.size());
  }
  made.wishes.arguments.resize(made.parameters.size());
  made.wishes.results.resize(made.outputs.size());
  made.has_donated =
      std::find(made.donated.begin(), made.donated.end(), true) != made.donated.end();
  made.parameter_kinds = KindsOf(made.wishes.arguments);
  made.output_kinds = KindsOf(made.wishes.results);
  for (size_t i = 0; i < made.outputs.size(); ++i) {
    Shape told = made.outputs[i].WithDefaultLayout();
    TellLayout(made.wishes.results[i], told);
    const DimVector order = told.MinorToMajor();
    made.output_orders.push_back(order);
  }
}

// Of operations and bytes: a thread's wakeup costs as much.
constexpr double kBackgroundCost = 2e5;

bool IsRegistered(absl::string_view target) {
  return FindCustomCall(target) != nullptr || FindCustomCallSymbol(target) != nullptr;
}

// Decides how the program runs: what calls Python waits for its results, as the thread that called
// may hold what the callback needs; a loop counts as long.
void ChooseWhere(const Module& module, const ComputationStats& stats, PjrtModule& made) {
  bool loops = false;
  for (const Computation* computation : module.Computations())
    for (const Instruction* i : computation->Instructions()) {
      loops |= i->opcode() == Opcode::kWhile;
      made.calls_out |=
          i->opcode() == Opcode::kInfeed || i->opcode() == Opcode::kOutfeed ||
          (i->opcode() == Opcode::kCustomCall && IsRegistered(i->attr<CustomCallAttrs>().target));
    }
  made.background = loops || stats.flop_count + stats.bytes_accessed > kBackgroundCost;
}

// What running it once takes, as far as its operations tell.
void SetCosts(const ComputationStats& stats, NamedValues& costs) {
  costs.AddFloat("flops", static_cast<float>(stats.flop_count));
  costs.AddFloat("bytes accessed", static_cast<float>(stats.bytes_accessed));
  if (stats.transcendental_count > 0)
    costs.AddFloat("transcendentals", static_cast<float>(stats.transcendental_count));
}

void DescribeCosts(const Module& module, PjrtModule& made) {
  const ComputationStats stats = Client::StatsOf(module);
  SetCosts(stats, made.costs);
  ChooseWhere(module, stats, made);
}

// The long way notes which arguments of some size are always the same.
bool MayHoldWeights(const PjrtModule& made) {
  constexpr int64_t kLeastBytes = 32 << 10;
  return made.background &&
         std::any_of(made.parameters.begin(), made.parameters.end(), [](const Shape& shape) {
           return shape.IsArray() && shape.ByteSize() >= kLeastBytes;
         });
}

// Once all else of `made` is known.
void ChooseShortWay(PjrtModule& made) {
  made.runs_arrays = !MayHoldWeights(made) && !made.has_donated && made.partitions.count == 1 &&
                     made.options.replicas == 1 && made.program->executable().RunsArrays();
}

// Shapes of the arguments and results of one device, of those of the module.
void SetShapes(std::vector<Shape> parameters, const Shape& result, PjrtModule& made) {
  made.parameters = std::move(parameters);
  made.tuple_result = result.IsTuple();
  made.outputs = ArraysOf(result);
  const PjrtPartitions& cuts = made.partitions;
  for (size_t i = 0; i < cuts.parameter_cuts.size(); ++i)
    if (!cuts.TakesPart(i))
      made.parameters[i] = ShardShape(made.parameters[i], cuts.parameter_cuts[i]);
  for (size_t i = 0; i < cuts.result_cuts.size(); ++i)
    if (!cuts.GivesPart(i)) made.outputs[i] = ShardShape(made.outputs[i], cuts.result_cuts[i]);
  DescribeOutputs(made);
}

}  // namespace

void TellLayout(const MemoryWish& wish, Shape& shape) {
  const std::string text = absl::StrCat("f32[", absl::StrJoin(shape.dims, ","), "]", wish.layout);
  if (!shape.IsArray() || !absl::StartsWith(wish.layout, "{")) return;
  const auto told = ParseShape(text);
  if (told.ok() && told->has_layout && told->layout.minor_to_major.size() == shape.dims.size()) {
    shape.has_layout = true;
    shape.layout.minor_to_major = told->layout.minor_to_major;
  }
}

absl::StatusOr<std::shared_ptr<PjrtModule>> CompileProgram(const std::shared_ptr<Client>& client,
                                                           const PJRT_Program& program,
                                                           absl::string_view options) {
  auto made = std::make_shared<PjrtModule>();
  made->client = client;
  made->options_bytes = std::string(options);
  ASSIGN_OR_RETURN(made->options, ReadCompileOptions(options));
  const absl::string_view format(program.format, program.format_size);
  const absl::string_view code(program.code, program.code_size);
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ReadProgram(format, code, &made->wishes));
  if (made->options.partitions > 1) {
    made->source_format = std::string(format);
    made->source = std::string(code);
  }
  module->header().replica_count = made->options.replicas;
  module->header().num_partitions = made->options.partitions;
  RETURN_IF_ERROR(TellShardings(*module, made->options));
  ASSIGN_OR_RETURN(made->partitions, PartitionsOf(*module, made->options));
  if (made->partitions.alike) module->header().num_partitions = 1;
  RETURN_IF_ERROR(KeepParts(*module, made->partitions));
  made->name = module->name();
  made->fingerprint = absl::StrCat(absl::Hex(HashText(code)), "-", absl::Hex(HashText(options)));
  std::vector<Shape> parameters;
  for (const Instruction* parameter : module->entry()->parameters())
    parameters.push_back(parameter->shape());
  made->donated = DonatedBy(module->header(), parameters.size());
  SetShapes(std::move(parameters), module->entry()->root()->shape(), *made);
  DescribeCosts(*module, *made);
  ClientCompileOptions compile;
  compile.backend.donate = true;
  compile.backend.flush_denormals = true;  // as JAX's CPU, and without their stalls
  ASSIGN_OR_RETURN(made->program, client->CompileModule(std::move(module), compile));
  ChooseShortWay(*made);
  return made;
}

absl::Status PjrtClient_Compile(PJRT_Client_Compile_Args& args) {
  if (args.program == nullptr) return InvalidArgument("the program is null");
  ASSIGN_OR_RETURN(std::shared_ptr<PjrtModule> module,
                   CompileProgram(args.client->client, *args.program,
                                  {args.compile_options, args.compile_options_size}));
  ASSIGN_OR_RETURN(auto loaded, LoadModule(args.client, std::move(module)));
  args.executable = loaded.release();
  return absl::OkStatus();
}

namespace {

// Parts of bytes: each its size in decimal, a space, and itself.
void AppendPart(absl::string_view part, std::string& out) {
  absl::StrAppend(&out, part.size(), " ", part);
}

absl::StatusOr<absl::string_view> TakePart(absl::string_view& bytes) {
  int64_t size = 0;
  const size_t space = bytes.find(' ');
  if (space == bytes.npos || !absl::SimpleAtoi(bytes.substr(0, space), &size) || size < 0 ||
      static_cast<size_t>(size) > bytes.size() - space - 1)
    return InvalidArgument("the bytes are no serialized executable of hlokit");
  const absl::string_view part = bytes.substr(space + 1, static_cast<size_t>(size));
  bytes.remove_prefix(space + 1 + static_cast<size_t>(size));
  return part;
}

// Each as its layout, a tab, its kind and a line's end.
std::string TextOf(const std::vector<MemoryWish>& wishes) {
  std::string text;
  for (const MemoryWish& wish : wishes) absl::StrAppend(&text, wish.layout, "\t", wish.kind, "\n");
  return text;
}

std::vector<MemoryWish> WishesIn(absl::string_view text) {
  std::vector<MemoryWish> wishes;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(line, absl::MaxSplits('\t', 1));
    wishes.push_back({parts.first, parts.second});
  }
  return wishes;
}

// Which arrays a compiled program takes and gives as parts: those that are smaller than the whole.
void NoteParts(const ProgramShape& shape, PjrtPartitions& cuts) {
  const std::vector<Shape> results = ArraysOf(shape.result);
  for (size_t i = 0; i < cuts.parameters.size(); ++i)
    cuts.parameter_is_part.push_back(!SameDims(shape.parameters[i], cuts.parameters[i]));
  for (size_t i = 0; i < cuts.results.size(); ++i)
    cuts.result_is_part.push_back(!SameDims(results[i], cuts.results[i]));
}

}  // namespace

// Compile options, what is asked of memory, the program with its format where partitions are cut as
// it says, compiled code.
absl::StatusOr<std::string> SerializeModule(const PjrtModule& module) {
  ASSIGN_OR_RETURN(const std::string code, module.client->SerializeExecutable(*module.program));
  std::string bytes;
  AppendPart(module.options_bytes, bytes);
  AppendPart(TextOf(module.wishes.arguments), bytes);
  AppendPart(TextOf(module.wishes.results), bytes);
  AppendPart(module.source_format, bytes);
  AppendPart(module.source, bytes);
  bytes += code;
  return bytes;
}

absl::StatusOr<std::shared_ptr<PjrtModule>> DeserializeModule(const std::shared_ptr<Client>& client,
                                                              absl::string_view bytes) {
  auto made = std::make_shared<PjrtModule>();
  made->client = client;
  ASSIGN_OR_RETURN(const absl::string_view options, TakePart(bytes));
  ASSIGN_OR_RETURN(const absl::string_view arguments, TakePart(bytes));
  ASSIGN_OR_RETURN(const absl::string_view results, TakePart(bytes));
  made->wishes = {WishesIn(arguments), WishesIn(results)};
  ASSIGN_OR_RETURN(const absl::string_view format, TakePart(bytes));
  ASSIGN_OR_RETURN(const absl::string_view source, TakePart(bytes));
  made->options_bytes = std::string(options);
  made->source_format = std::string(format);
  made->source = std::string(source);
  ASSIGN_OR_RETURN(made->options, ReadCompileOptions(options));
  if (made->options.partitions > 1) {
    ASSIGN_OR_RETURN(const auto module, ReadProgram(made->source_format, made->source));
    ASSIGN_OR_RETURN(made->partitions, PartitionsOf(*module, made->options));
  }
  ASSIGN_OR_RETURN(made->program, client->LoadExecutable(bytes));
  made->fingerprint = absl::StrCat(absl::Hex(HashText(bytes)));
  made->name = made->program->module().name();
  DescribeCosts(made->program->module(), *made);
  const ProgramShape& shape = made->program->program_shape();
  if (made->options.partitions > 1 &&
      (made->partitions.parameter_cuts.size() != shape.parameters.size() ||
       made->partitions.result_cuts.size() != ArraysOf(shape.result).size()))
    return InvalidArgument("the bytes are no serialized executable of hlokit");
  NoteParts(shape, made->partitions);
  made->donated = DonatedBy(made->program->module().header(), shape.parameters.size());
  SetShapes({shape.parameters.begin(), shape.parameters.end()}, shape.result, *made);
  ChooseShortWay(*made);
  return made;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
