// See gpu_replay.h. Device memory is what the dump's allocations say, one piece each.
//
//   1. The module's arguments are put into the allocations of its parameters, at the offsets and in
//      the layouts that the dump's buffer assignment gives.
//   2. Instructions run in the schedule's order: one with launches runs its kernels on the
// simulator,
//      any other is computed by the interpreter from the arrays as they are at that moment.
//   3. The result is read back from the allocations of the root.
// So what a library would compute (products, convolutions, sorts) needs no library, and a kernel
// that writes wrong values spoils only what reads them.
// Types narrower than a byte lie densely in device memory and one a byte in literals: Pack, Unpack.
#include "tools/gpu_dump/gpu_replay.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "interpreter/interpreter.h"
#include "ptxsim/decode.h"
#include "ptxsim/launch.h"
#include "ptxsim/memory.h"
#include "ptxsim/parser.h"
#include "support/diagnostics.h"
#include "support/file.h"
#include "support/status.h"
#include "types/literal_leaves.h"
#include "types/shape.h"

namespace hlokit {
namespace {

// Bits of an element as XLA's GPU compiler stores it: types below a byte lie densely.
int PackedBits(ElementType type, int64_t elements, int64_t bytes) {
  const int bits = BitWidth(type);
  if (bits >= 8 || bits == 0 || type == ElementType::kPred) return 8;
  return bytes < elements ? bits : 8;
}

// Bytes of one element each into elements of `bits` bits, the first in the lowest, and back.
void Pack(const uint8_t* from, int64_t count, int bits, std::byte* to) {
  const int per_byte = 8 / bits, mask = (1 << bits) - 1;
  for (int64_t i = 0; i < count; ++i) {
    if (i % per_byte == 0) to[i / per_byte] = std::byte{0};
    to[i / per_byte] |= static_cast<std::byte>((from[i] & mask) << (i % per_byte * bits));
  }
}
void Unpack(const std::byte* from, int64_t count, int bits, bool is_signed, uint8_t* to) {
  const int per_byte = 8 / bits, mask = (1 << bits) - 1;
  for (int64_t i = 0; i < count; ++i) {
    int value = static_cast<int>(from[i / per_byte]) >> (i % per_byte * bits) & mask;
    if (is_signed && (value >> (bits - 1)) != 0) value |= ~mask;
    to[i] = static_cast<uint8_t>(value);
  }
}

std::string PositionText(const Instruction& instruction, const ShapeIndex& index) {
  if (index.empty()) return instruction.name();
  return absl::StrCat(instruction.name(), "{", absl::StrJoin(index, ","), "}");
}

// True for what has no thunk: instructions that name arrays which are there.
bool OnlyNames(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kAfterAll:
    case Opcode::kAsyncUpdate:
    case Opcode::kOptimizationBarrier:
    case Opcode::kAddDependency:
      return true;
    default:
      return false;
  }
}

}  // namespace

// Kernels by name; each is decoded when it first runs.
struct GpuReplay::Kernels {
  struct Kernel {
    std::shared_ptr<const ptx::Module> module;
    const ptx::Function* function = nullptr;
    std::unique_ptr<ptx::Program> program;
  };
  absl::flat_hash_map<std::string, Kernel> by_name;

  absl::Status AddFile(const std::string& path) {
    ASSIGN_OR_RETURN(std::string text, ReadFile(path));
    const auto source = std::make_shared<SourceFile>(path, std::move(text));
    Diagnostics diagnostics;
    const std::shared_ptr<const ptx::Module> module = ptx::ParseModule(source, diagnostics);
    if (module == nullptr) return InvalidArgument(diagnostics.Render(*source));
    for (const std::string& name : module->EntryNames())
      by_name[name] = {module, module->FindFunction(name), nullptr};
    return absl::OkStatus();
  }

  // Null where there is no such kernel.
  absl::StatusOr<Kernel*> Find(const std::string& name) {
    const auto found = by_name.find(name);
    if (found == by_name.end()) return static_cast<Kernel*>(nullptr);
    Kernel& kernel = found->second;
    if (kernel.program != nullptr) return &kernel;
    Diagnostics diagnostics;
    kernel.program = ptx::DecodeKernel(kernel.module, *kernel.function, diagnostics);
    if (kernel.program == nullptr)
      return InvalidArgument(diagnostics.Render(*kernel.module->source));
    return &kernel;
  }
};

GpuReplay::GpuReplay(GpuReplay&&) noexcept = default;
GpuReplay::~GpuReplay() = default;

absl::StatusOr<GpuReplay> GpuReplay::Load(GpuDumpFiles files) {
  GpuReplay replay;
  std::string values, metadata;
  ASSIGN_OR_RETURN(const std::string buffers, ReadFile(files.buffers));
  ASSIGN_OR_RETURN(const std::string thunks, ReadFile(files.thunks));
  if (!files.values.empty()) {
    ASSIGN_OR_RETURN(values, ReadFile(files.values));
  }
  if (!files.metadata.empty()) {
    ASSIGN_OR_RETURN(metadata, ReadFile(files.metadata));
  }
  absl::StatusOr<GpuBuffers> parsed = ParseGpuBuffers(buffers, values);
  if (!parsed.ok()) return Annotate(parsed.status(), files.buffers);
  absl::StatusOr<std::vector<GpuThunk>> sequence = ParseGpuThunks(thunks, metadata);
  if (!sequence.ok()) return Annotate(sequence.status(), files.thunks);
  replay.buffers_ = *std::move(parsed);
  replay.thunks_ = *std::move(sequence);
  replay.kernels_ = std::make_unique<Kernels>();
  for (const std::string& path : files.ptx) RETURN_IF_ERROR(replay.kernels_->AddFile(path));
  replay.files_ = std::move(files);
  return replay;
}

namespace {

// What an instruction's thunks are, in their order.
using ThunkMap = absl::flat_hash_map<std::string, std::vector<const GpuThunk*>>;

}  // namespace

// One run.
class GpuReplay::Device {
 public:
  Device(const GpuReplay& replay, const Options& options)
      : replay_(replay), options_(options), group_(interpreter_options_, 1, 1) {
    for (const GpuThunk& thunk : replay.thunks_) thunks_[thunk.instruction].push_back(&thunk);
  }

  absl::StatusOr<Result> Run(const Module& module, absl::Span<const Literal* const> arguments);

 private:
  using Kernel = Kernels::Kernel;

  absl::Status Allocate();
  absl::Status WriteConstants(const Module& module);
  absl::Status RunComputation(const Computation& computation);
  absl::Status RunInstruction(const Instruction& i);
  absl::Status RunWhile(const Instruction& i);
  absl::Status RunConditional(const Instruction& i);
  // False where the dump has no kernels for it.
  absl::StatusOr<bool> RunKernels(const Instruction& i);
  absl::Status RunKernel(const Instruction& i, const GpuThunk& thunk, Kernel& kernel);
  absl::Status RunCopies(const Instruction& i, size_t copies);
  absl::Status RunOnHost(const Instruction& i);
  absl::StatusOr<std::vector<GpuSlice>> SlicesOf(const Instruction& i) const;
  absl::StatusOr<GpuSlice> SliceAt(const Instruction& i, const ShapeIndex& index) const;
  std::byte* Bytes(const GpuSlice& slice) {
    return memory_.Host(
        addresses_[static_cast<size_t>(slice.allocation)] + static_cast<uint64_t>(slice.offset),
        slice.size);
  }
  absl::StatusOr<Literal> Read(const Instruction& i);
  absl::StatusOr<Literal> ReadPart(const Instruction& i, const Shape& shape, ShapeIndex& index);
  absl::Status Write(const Instruction& i, const Literal& value);

  const GpuReplay& replay_;
  const Options& options_;
  InterpreterOptions interpreter_options_;
  DeviceGroup group_;
  ThunkMap thunks_;
  ptx::Memory memory_;
  std::vector<uint64_t> addresses_;  // of allocations
  const ptx::Module* variables_of_ = nullptr;
  int64_t steps_ = 0;
  Result result_;
};

absl::StatusOr<GpuReplay::Result> GpuReplay::Run(const Module& module,
                                                 absl::Span<const Literal* const> arguments,
                                                 const Options& options) const {
  Device device(*this, options);
  return device.Run(module, arguments);
}

absl::StatusOr<GpuReplay::Result> GpuReplay::Device::Run(
    const Module& module, absl::Span<const Literal* const> arguments) {
  const Computation& entry = *module.entry();
  if (static_cast<int64_t>(arguments.size()) != entry.parameter_count())
    return InvalidArgument("the module takes ", entry.parameter_count(), " arguments, ",
                           arguments.size(), " given");
  RETURN_IF_ERROR(Allocate());
  for (int64_t k = 0; k < entry.parameter_count(); ++k)
    RETURN_IF_ERROR(Write(*entry.parameter(k), *arguments[static_cast<size_t>(k)]));
  RETURN_IF_ERROR(WriteConstants(module));
  RETURN_IF_ERROR(RunComputation(entry));
  ASSIGN_OR_RETURN(result_.value, Read(*entry.root()));
  return std::move(result_);
}

// XLA's allocator hands out multiples of 256 bytes, and its kernels read (not write) past the end
// of an array where they use nothing of what they read: lanes beyond the last element, vectors
// whose last elements are not there.
absl::Status GpuReplay::Device::Allocate() {
  constexpr int64_t kGranule = 256;
  int64_t number = 0;
  for (const GpuBuffers::Allocation& allocation : replay_.buffers_.allocations) {
    uint64_t address = 0;
    if (!allocation.is_thread_local) {
      ASSIGN_OR_RETURN(address,
                       memory_.Allocate((allocation.size + kGranule - 1) / kGranule * kGranule,
                                        absl::StrCat("allocation ", number),
                                        /*is_written=*/true));
    }
    addresses_.push_back(address);
    ++number;
  }
  return absl::OkStatus();
}

// Constants that have memory: those that no kernel holds in itself.
absl::Status GpuReplay::Device::WriteConstants(const Module& module) {
  for (const Computation* computation : module.Computations()) {
    for (const Instruction* i : computation->Instructions()) {
      if (!i->IsConstant()) continue;
      const auto found = replay_.buffers_.slices.find(i->name());
      if (found == replay_.buffers_.slices.end() ||
          replay_.buffers_.allocations[static_cast<size_t>(found->second.allocation)]
              .is_thread_local)
        continue;
      if (i->literal() == nullptr)
        return WithPlace(InvalidArgument("constant %", i->name(),
                                         " was left out of the text: `constant({...})`; XLA prints "
                                         "it with --xla_dump_large_constants"),
                         i->place());
      RETURN_IF_ERROR(Write(*i, *i->literal()));
    }
  }
  return absl::OkStatus();
}

absl::Status GpuReplay::Device::RunComputation(const Computation& computation) {
  for (const Instruction* i : computation.ScheduleOrPostOrder()) {
    const absl::Status status = RunInstruction(*i);
    if (!status.ok())
      return PlaceOf(status).valid()
                 ? status
                 : WithPlace(Annotate(status, absl::StrCat("%", i->name())), i->place());
  }
  return absl::OkStatus();
}

absl::Status GpuReplay::Device::RunInstruction(const Instruction& i) {
  if (options_.max_steps > 0 && ++steps_ > options_.max_steps)
    return ResourceExhausted("more than ", options_.max_steps, " steps");
  // Results of an async operation are there since its start.
  if (OnlyNames(i) || HasTrait(i.opcode(), kAsyncDone)) return absl::OkStatus();
  switch (i.opcode()) {
    case Opcode::kAsyncStart:
    case Opcode::kCall:
      return RunComputation(*i.called(0));
    case Opcode::kWhile:
      return RunWhile(i);
    case Opcode::kConditional:
      return RunConditional(i);
    default:
      break;
  }
  ASSIGN_OR_RETURN(const bool launched, RunKernels(i));
  return launched ? absl::OkStatus() : RunOnHost(i);
}

absl::Status GpuReplay::Device::RunWhile(const Instruction& i) {
  const Computation& condition = *i.called(0);
  const Computation& body = *i.called(1);
  for (;;) {
    RETURN_IF_ERROR(RunComputation(condition));
    ASSIGN_OR_RETURN(const Literal running, Read(*condition.root()));
    if (running.GetInt(0) == 0) return absl::OkStatus();
    RETURN_IF_ERROR(RunComputation(body));
  }
}

absl::Status GpuReplay::Device::RunConditional(const Instruction& i) {
  ASSIGN_OR_RETURN(const Literal selector, Read(*i.operand(0)));
  const auto count = static_cast<int64_t>(i.called().size());
  int64_t branch = selector.GetInt(0);
  if (selector.type() == ElementType::kPred) {
    branch = branch != 0 ? 0 : 1;
  } else if (branch < 0 || branch >= count) {
    branch = count - 1;
  }
  return RunComputation(*i.called(branch));
}

absl::StatusOr<bool> GpuReplay::Device::RunKernels(const Instruction& i) {
  const auto found = thunks_.find(i.name());
  if (found == thunks_.end()) return false;
  std::vector<std::pair<const GpuThunk*, Kernel*>> launches;
  size_t copies = 0;
  for (const GpuThunk* thunk : found->second) {
    if (thunk->kernel.empty()) {
      // Copies ahead of kernels that work in place: a sort's operands.
      if (thunk->kind != "kCopy" || !launches.empty()) return false;
      ++copies;
      continue;
    }
    ASSIGN_OR_RETURN(Kernel* const kernel, replay_.kernels_->Find(thunk->kernel));
    if (kernel == nullptr) return false;  // of a library: not in the dump
    launches.emplace_back(thunk, kernel);
  }
  if (launches.empty()) return false;
  if (copies > 0) RETURN_IF_ERROR(RunCopies(i, copies));
  for (const auto& [thunk, kernel] : launches) RETURN_IF_ERROR(RunKernel(i, *thunk, *kernel));
  return true;
}

absl::StatusOr<GpuSlice> GpuReplay::Device::SliceAt(const Instruction& i,
                                                    const ShapeIndex& index) const {
  const std::string position = PositionText(i, index);
  const auto found = replay_.buffers_.slices.find(position);
  if (found == replay_.buffers_.slices.end())
    return InvalidArgument("the buffer assignment of the dump has no %", position);
  return found->second;
}

absl::StatusOr<std::vector<GpuSlice>> GpuReplay::Device::SlicesOf(const Instruction& i) const {
  std::vector<GpuSlice> slices;
  for (const ShapeLeaf& leaf : Leaves(i.shape())) {
    if (!leaf.shape->IsArray()) continue;
    ASSIGN_OR_RETURN(const GpuSlice slice, SliceAt(i, leaf.index));
    slices.push_back(slice);
  }
  return slices;
}

// The operands of a sort whose result does not take their place. A sort in a fusion may make some
// of its operands itself (an iota).
absl::Status GpuReplay::Device::RunCopies(const Instruction& i, size_t copies) {
  const bool is_fused = i.opcode() == Opcode::kFusion;
  const Instruction* sort = is_fused ? i.called(0)->root() : &i;
  ASSIGN_OR_RETURN(const std::vector<GpuSlice> results, SlicesOf(i));
  std::vector<std::pair<GpuSlice, GpuSlice>> moves;
  if (sort->opcode() == Opcode::kSort || sort->opcode() == Opcode::kScatter) {
    for (int64_t k = 0; k < static_cast<int64_t>(results.size()); ++k) {
      const Instruction* operand = sort->operand(k);
      if (sort != &i) {
        while (operand->opcode() == Opcode::kBitcast) operand = operand->operand(0);
        if (!operand->IsParameter()) continue;
        operand = i.operand(operand->parameter_number());
      }
      ASSIGN_OR_RETURN(const std::vector<GpuSlice> from, SlicesOf(*operand));
      if (from.size() == 1 && from[0] != results[static_cast<size_t>(k)])
        moves.emplace_back(from[0], results[static_cast<size_t>(k)]);
    }
  }
  if (moves.size() != copies)
    return Unimplemented(copies, " copies ahead of the kernels of a ", Text(i.opcode()));
  for (const auto& [from, to] : moves)
    std::memmove(Bytes(to), Bytes(from), static_cast<size_t>(std::min(from.size, to.size)));
  return absl::OkStatus();
}

absl::Status GpuReplay::Device::RunKernel(const Instruction& i, const GpuThunk& thunk,
                                          Kernel& kernel) {
  std::vector<GpuSlice> slices;
  for (const Instruction* operand : i.operands()) {
    ASSIGN_OR_RETURN(const std::vector<GpuSlice> more, SlicesOf(*operand));
    slices.insert(slices.end(), more.begin(), more.end());
  }
  ASSIGN_OR_RETURN(const std::vector<GpuSlice> results, SlicesOf(i));
  slices.insert(slices.end(), results.begin(), results.end());
  const ptx::Program& program = *kernel.program;
  if (slices.size() != program.parameters.size()) {
    // Kernels of other versions of XLA take arrays that lie at one place once.
    std::vector<GpuSlice> once;
    for (const GpuSlice& slice : slices)
      if (std::find(once.begin(), once.end(), slice) == once.end()) once.push_back(slice);
    slices = std::move(once);
  }
  if (slices.size() != program.parameters.size())
    return InvalidArgument("kernel ", thunk.kernel, " takes ", program.parameters.size(),
                           " parameters; the instruction has ", slices.size(), " arrays");
  std::vector<std::byte> parameters(static_cast<size_t>(program.parameter_bytes));
  for (size_t k = 0; k < slices.size(); ++k) {
    if (program.parameters[k].size != 8)
      return InvalidArgument("parameter ", k, " of kernel ", thunk.kernel, " is no address");
    const uint64_t address = addresses_[static_cast<size_t>(slices[k].allocation)] +
                             static_cast<uint64_t>(slices[k].offset);
    std::memcpy(parameters.data() + program.parameters[k].offset, &address, sizeof address);
  }
  if (!program.globals.empty() && variables_of_ != kernel.module.get()) {
    RETURN_IF_ERROR(ptx::LoadVariables(program, memory_));
    variables_of_ = kernel.module.get();
  }
  ptx::LaunchOptions launch;
  std::copy_n(thunk.grid, 3, launch.grid);
  std::copy_n(thunk.threads, 3, launch.block);
  launch.dynamic_shared = thunk.shared_bytes;
  launch.threads = options_.threads;
  launch.max_steps = options_.max_steps;
  launch.checks = options_.checks;
  launch.profile = options_.profile;
  Launched launched;
  launched.instruction = i.name();
  launched.kernel = thunk.kernel;
  launched.thunk = &thunk;
  const absl::Status status = ptx::Launch(program, memory_, parameters, launch, launched.stats);
  if (!status.ok())
    return absl::Status(status.code(), RenderStatus(status, *kernel.module->source));
  result_.launches.push_back(std::move(launched));
  return absl::OkStatus();
}

absl::Status GpuReplay::Device::RunOnHost(const Instruction& i) {
  std::vector<Literal> operands;
  for (const Instruction* operand : i.operands()) {
    ASSIGN_OR_RETURN(Literal value, Read(*operand));
    operands.push_back(std::move(value));
  }
  std::vector<const Literal*> pointers;
  for (const Literal& operand : operands) pointers.push_back(&operand);
  ASSIGN_OR_RETURN(const Literal value, group_.Evaluate(0, i, pointers));
  result_.on_host.push_back(absl::StrCat(Text(i.opcode()), " %", i.name()));
  return Write(i, value);
}

absl::StatusOr<Literal> GpuReplay::Device::Read(const Instruction& i) {
  ShapeIndex index;
  return ReadPart(i, i.shape(), index);
}

absl::StatusOr<Literal> GpuReplay::Device::ReadPart(const Instruction& i, const Shape& shape,
                                                    ShapeIndex& index) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (size_t k = 0; k < shape.elements.size(); ++k) {
      index.push_back(static_cast<int64_t>(k));
      ASSIGN_OR_RETURN(Literal element, ReadPart(i, shape.elements[k], index));
      index.pop_back();
      elements.push_back(std::move(element));
    }
    return Literal::Tuple(std::move(elements));
  }
  if (!shape.IsArray()) return Literal::Token();
  Literal literal(shape);
  if (literal.byte_size() == 0) return literal;
  ASSIGN_OR_RETURN(const GpuSlice slice, SliceAt(i, index));
  const std::byte* bytes = Bytes(slice);
  const int bits = PackedBits(shape.type, literal.element_count(), slice.size);
  if (bits == 8 && slice.size < literal.byte_size())
    return InvalidArgument("%", PositionText(i, index), " has ", slice.size,
                           " bytes in the buffer assignment, its shape ", literal.byte_size());
  std::vector<uint8_t> wide;
  const auto* elements = reinterpret_cast<const uint8_t*>(bytes);
  if (bits < 8) {
    wide.resize(static_cast<size_t>(literal.byte_size()));
    Unpack(bytes, literal.element_count(), bits, IsSigned(shape.type), wide.data());
    elements = wide.data();
  }
  FromLayout(elements, shape, literal);
  return literal;
}

absl::Status GpuReplay::Device::Write(const Instruction& i, const Literal& value) {
  std::vector<const Literal*> values;
  CollectLeaves(value, values);
  size_t next = 0;
  for (const ShapeLeaf& leaf : Leaves(i.shape())) {
    const Literal& array = *values[next++];
    if (!leaf.shape->IsArray() || array.byte_size() == 0) continue;
    ASSIGN_OR_RETURN(const GpuSlice slice, SliceAt(i, leaf.index));
    std::vector<uint8_t> bytes(static_cast<size_t>(array.byte_size()));
    ToLayout(array, *leaf.shape, bytes.data());
    const int bits = PackedBits(leaf.shape->type, array.element_count(), slice.size);
    if (bits < 8) {
      Pack(bytes.data(), array.element_count(), bits, Bytes(slice));
      continue;
    }
    if (static_cast<size_t>(slice.size) < bytes.size())
      return InvalidArgument("%", PositionText(i, leaf.index), " has ", slice.size,
                             " bytes in the buffer assignment, its shape ", bytes.size());
    std::memcpy(Bytes(slice), bytes.data(), bytes.size());
  }
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
