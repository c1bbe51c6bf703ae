// One device's run: arguments in their layouts, results and arena allocated, the table of pointers
// that the code reads, and the callback for reference kernels, which converts buffers to literals,
// lets the interpreter evaluate the instruction, and converts back.
//
//   table: argument arrays | sizes of dynamic dimensions | constants | result arrays | counters
// Prepare fills it once; Run may then be called any number of times. An argument that lies in host
// memory in the layout and alignment that the code expects is used where it lies, any other is
// copied into it. A result whose argument was donated is written over it; where such a run is
// repeated, the argument's first value is put back before each (refills_).
// Errors come back through the context: the code sets a flag and a text and returns, and the run
// turns them into a status with the place of the instruction.
#include "backends/cpu/executable/device_run_internal.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"
#include "backends/cpu/executable/flush_denormals_internal.h"
#include "backends/cpu/sanitizer/sanitizer_internal.h"
#include "runtime/parallel.h"
#include "runtime/table/kernels.h"
#include "support/allocate.h"
#include "support/clock.h"
#include "support/diagnostics.h"
#include "support/status.h"
#include "types/literal_leaves.h"

namespace hlokit {
namespace {

constexpr int64_t kLeastSeenBytes = 32 << 10;  // of an argument that is worth noting

// What llvm.readcyclecounter reads.
uint64_t ReadClock() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;  // profiles are empty
#endif
}

// The size of a dynamic dimension of an argument.
int64_t SizeOf(const ValueView& argument, int64_t d) {
  if (argument.literal != nullptr) return argument.literal->dynamic_size(static_cast<int>(d));
  if (argument.value != nullptr && !argument.value->leaves()[0].dynamic_sizes.empty())
    return argument.value->leaves()[0].dynamic_sizes[d];
  return argument.shape->dims[d];
}

// A literal of `shape` from buffers in its layouts, taken in depth-first order from `next` on.
Literal FromBuffers(const Shape& shape, const void* const*& next) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& e : shape.elements) elements.push_back(FromBuffers(e, next));
    Literal tuple = Literal::Tuple(std::move(elements));
    return tuple;
  }
  const void* from = *next++;
  if (!shape.IsArray()) return Literal::Token();
  Literal literal(shape);
  if (literal.byte_size() > 0) FromLayout(static_cast<const uint8_t*>(from), shape, literal);
  return literal;
}

void ToBuffers(const Literal& literal, const Shape& shape, void* const*& next) {
  if (shape.IsTuple()) {
    for (size_t e = 0; e < shape.elements.size(); ++e)
      ToBuffers(literal.elements()[e], shape.elements[e], next);
    return;
  }
  void* to = *next++;
  if (shape.IsArray() && literal.byte_size() > 0)
    ToLayout(literal, shape, static_cast<uint8_t*>(to));
}

// Computations that run as code of their own, counted by themselves.
absl::Span<Computation* const> Called(const Instruction& i) {
  const bool runs = i.opcode() == Opcode::kWhile || i.opcode() == Opcode::kConditional ||
                    i.opcode() == Opcode::kCall;
  return runs ? i.called() : absl::Span<Computation* const>();
}

}  // namespace

void DeviceRun::CallReference(HlokitRunContext* ctx, int64_t id, const void** operands,
                              void** results) {
  auto* run = static_cast<DeviceRun*>(ctx->user);
  run->Reference(*run->e_.instruction(id), operands, results);
}

void DeviceRun::Reference(const Instruction& i, const void** operands, void** results) {
  if (group_ == nullptr)
    group_ = &alone_.emplace(e_.reference_options(), 1, 1, /*communicator=*/nullptr, ffi_run_);
  const absl::Status status = Interpret(i, operands, results);
  if (status.ok()) return;
  if (failure_.ok()) failure_ = WithPlace(Annotate(status, absl::StrCat("%", i.name())), i.place());
  hlokit_set_error(&context_, std::string(status.message()).c_str());
}

absl::Status DeviceRun::Interpret(const Instruction& i, const void* const* operands,
                                  void* const* results) {
  std::vector<Literal> values;
  const void* const* next = operands;
  for (const Instruction* operand : i.operands())
    values.push_back(FromBuffers(operand->shape(), next));
  std::vector<const Literal*> pointers;
  for (const Literal& v : values) pointers.push_back(&v);
  ASSIGN_OR_RETURN(const Literal result, group_->Evaluate(device_, i, pointers));
  ToBuffers(result, i.shape(), results);
  return absl::OkStatus();
}

absl::Status DeviceRun::Prepare(const DeviceViews& arguments, absl::Span<Literal* const> given) {
  RETURN_IF_ERROR(CheckFits());
  const Computation& entry = *e_.module().entry();
  const auto sizes = static_cast<int64_t>(e_.dynamic_entry().arguments.size());
  const int64_t count = entry.parameter_count() - sizes;
  if (static_cast<int64_t>(arguments.size()) != count)
    return InvalidArgument("the program takes ", count, " arguments, ", arguments.size(), " given");
  for (int64_t p = 0; p < count; ++p) {
    const Shape& want = entry.parameter(p)->shape();
    const ValueView& argument = arguments[p];
    if (!Compatible(want, *argument.shape))
      return InvalidArgument("argument ", p, " is ", Text(*argument.shape), ", expected ",
                             Text(want));
    RETURN_IF_ERROR(AddArgument(argument, want));
  }
  RETURN_IF_ERROR(AddSizes(arguments));
  table_.insert(table_.end(), e_.constants().begin(), e_.constants().end());
  first_output_ = table_.size();
  table_.resize(table_.size() + e_.buffers().output_sizes().size());
  ASSIGN_OR_RETURN(arena_, AllocateBytes(e_.buffers().arena_size()));
  SetUpContext();
  RETURN_IF_ERROR(PlaceDonations(given));
  RETURN_IF_ERROR(AllocateResults());
  if (e_.sanitizer() != nullptr) RETURN_IF_ERROR(PrepareShadowed());
  NoteArguments(arguments);
  NameFrozen();
  if (e_.profile()) {
    counters_.assign(2 * e_.module().id_bound(), 0);
    table_.push_back(counters_.data());
  }
  return absl::OkStatus();
}

absl::Status DeviceRun::RunArrays(absl::Span<const void* const> arguments,
                                  Executable::ArrayResults& results) {
  const size_t count = e_.buffers().output_sizes().size();
  table_.reserve(arguments.size() + e_.constants().size() + count);
  table_.assign(arguments.begin(), arguments.end());
  table_.insert(table_.end(), e_.constants().begin(), e_.constants().end());
  if (e_.buffers().arena_size() > 0) {
    ASSIGN_OR_RETURN(arena_, AllocateBytes(e_.buffers().arena_size()));
  }
  SetUpContext();
  const size_t first = results.size();
  results.reserve(first + count);
  const Shape& root = e_.module().entry()->root()->shape();
  for (size_t k = 0; k < count; ++k) {
    results.push_back(Literal::Unset(root.IsTuple() ? root.elements[k] : root));
    table_.push_back(results.back().data());
  }
  NameFrozen();
  if (!frozen_.empty()) frozen_.forms().DropIfShort();
  const ScopedFlushDenormals flush(e_.flush_denormals());
  e_.code().entry()(&context_, arena_.get(), table_.data());
  RestThreads();
  RETURN_IF_ERROR(failure_);
  return context_.failed ? Failure(nullptr) : absl::OkStatus();
}

void DeviceRun::SetUpContext() {
  std::memset(&context_, 0, sizeof(context_));
  context_.struct_size = sizeof(context_);
  context_.num_threads = e_.threads();
  context_.call_reference = CallReference;
  context_.user = this;
  context_.device_ordinal = static_cast<int32_t>(device_);
  const int64_t partitions = std::max<int64_t>(e_.module().header().num_partitions, 1);
  context_.replica_id = static_cast<int32_t>(device_ / partitions);
  context_.partition_id = static_cast<int32_t>(device_ % partitions);
  context_.rng_state[0] = 0x853c49e6748fea9bULL;
}

absl::Status DeviceRun::Failure(const Communicator* communicator) const {
  using End = Communicator::End;
  const End end = communicator == nullptr ? End::kNone : communicator->end(device_);
  if (end == End::kNone) return absl::InvalidArgumentError(context_.error);
  if (end == End::kStopped) return absl::CancelledError(context_.error);
  return WithPlace(FailedPrecondition(context_.error),
                   e_.instruction(communicator->ended_at(device_))->place());
}

absl::Status DeviceRun::Run(DeviceGroup* group, Communicator* communicator,
                            std::shared_ptr<const FfiRun> ffi_run) {
  context_.communicator = communicator;
  context_.failed = 0;
  group_ = group;
  ffi_run_ = std::move(ffi_run);
  alone_.reset();
  failure_ = absl::OkStatus();
  context_.steps_left = e_.step_limit() - e_.module().entry()->instruction_count();
  for (const Refill& refill : refills_) std::memcpy(refill.to, refill.from, refill.bytes);
  if (!frozen_.empty()) frozen_.forms().DropIfShort();
  const ScopedFlushDenormals flush(e_.flush_denormals());
  const double start = SteadySeconds();
  const uint64_t first = ReadClock();
  char* const arena = shadowed_arena_ != nullptr ? shadowed_arena_->data() : arena_.get();
  if (shadowed_arena_ != nullptr) BeginShadowed();
  e_.code().entry()(&context_, arena, table_.data());
  RestThreads();
  if (shadowed_arena_ != nullptr) EndShadowed();
  clock_ticks_ += ReadClock() - first;
  seconds_ += SteadySeconds() - start;
  RETURN_IF_ERROR(failure_);
  if (context_.failed) return Failure(communicator);
  if (e_.is_dynamic() && !SizesAreInRange())
    return InvalidArgument("the size of a dynamic dimension is out of range");
  if (e_.step_limit() > 0 && context_.steps_left < 0)
    return ResourceExhausted("more than ", e_.step_limit(), " steps");
  return absl::OkStatus();
}

std::vector<InstructionTime> DeviceRun::Profile() const {
  std::vector<InstructionTime> times;
  if (clock_ticks_ == 0) return times;
  const double tick = seconds_ / static_cast<double>(clock_ticks_);
  for (size_t id = 0; 2 * id < counters_.size(); ++id) {
    const Instruction* i = e_.instruction(static_cast<int64_t>(id));
    if (i == nullptr || counters_[2 * id + 1] == 0) continue;
    double ticks = static_cast<double>(counters_[2 * id]);
    for (const Computation* called : Called(*i)) ticks -= TicksInside(*called);
    times.push_back({i, static_cast<int64_t>(counters_[2 * id + 1]), std::max(0.0, ticks) * tick});
  }
  return times;
}

Literal DeviceRun::TakeResult() { return TakeOutputs(/*row_major=*/true); }

DeviceValue DeviceRun::TakeValue() {
  return DeviceValue::TakeOver(TakeOutputs(/*row_major=*/false), /*in_layout=*/true);
}

std::vector<DeviceValue> DeviceRun::TakeParts() {
  std::vector<DeviceValue> parts;
  size_t next = 0;
  for (const Shape& element : e_.module().entry()->root()->shape().elements)
    parts.push_back(
        DeviceValue::TakeOver(Take(element, next, /*row_major=*/false), /*in_layout=*/true));
  return parts;
}

Literal DeviceRun::TakeOutputs(bool row_major) {
  size_t next = 0;
  const DynamicEntry& dynamic = e_.dynamic_entry();
  if (!e_.is_dynamic()) return Take(e_.module().entry()->root()->shape(), next, row_major);
  Literal result = Take(dynamic.result, next, row_major);
  std::vector<Literal*> leaves;
  CollectLeaves(result, leaves);
  if (dynamic.checked) ++next;
  for (const DynamicEntry::Size& size : dynamic.results)
    leaves[size.array]->set_dynamic_size(size.dimension, *outputs_[next++].as<int32_t>());
  return result;
}

absl::Status DeviceRun::CheckFits() const {
  const BufferAssignment& buffers = e_.buffers();
  double arguments = 0, results = 0;  // sums may exceed int64_t
  for (int64_t size : buffers.parameter_sizes()) arguments += static_cast<double>(size);
  for (int64_t size : buffers.output_sizes()) results += static_cast<double>(size);
  for (const Donation& donation : buffers.donations())
    results -= static_cast<double>(buffers.output_sizes()[donation.result]);
  const auto devices = static_cast<double>(devices_);
  const double bytes = (arguments + results + static_cast<double>(buffers.arena_size())) * devices;
  if (bytes <= static_cast<double>(MemoryLimit())) return absl::OkStatus();
  const auto mebibytes = [](double b) { return absl::StrFormat("%.1f MiB", b / (1 << 20)); };
  return ResourceExhausted("the program needs ", mebibytes(bytes), " (arguments ",
                           mebibytes(arguments), ", results ", mebibytes(results),
                           ", temporary memory ",
                           mebibytes(static_cast<double>(buffers.arena_size())),
                           "); this machine has ", mebibytes(static_cast<double>(MemoryLimit())));
}

absl::Status DeviceRun::AddLiteral(const Literal& argument, const Shape& want) {
  std::vector<const Literal*> leaves;
  CollectLeaves(argument, leaves);
  size_t next = 0;
  for (const ShapeLeaf& leaf : Leaves(want)) {
    const Literal& value = *leaves[next++];
    if (!leaf.shape->IsArray() || leaf.shape->IsRowMajor()) {
      table_.push_back(value.data());
      continue;
    }
    ASSIGN_OR_RETURN(uint8_t* const bytes, AddBytes(leaf.shape->ByteSize()));
    if (bytes != nullptr) ToLayout(value, *leaf.shape, bytes);
  }
  return absl::OkStatus();
}

bool DeviceRun::SizesAreInRange() const {
  const DynamicEntry& dynamic = e_.dynamic_entry();
  const std::vector<ShapeLeaf> leaves = Leaves(dynamic.result);
  size_t next = leaves.size();
  if (dynamic.checked && *outputs_[next++].as<uint8_t>() == 0) return false;
  for (const DynamicEntry::Size& size : dynamic.results) {
    const int32_t value = *outputs_[next++].as<int32_t>();
    if (value < 0 || value > leaves[size.array].shape->dims[size.dimension]) return false;
  }
  return true;
}

absl::Status DeviceRun::AddSizes(const DeviceViews& arguments) {
  for (const DynamicEntry::Size& size : e_.dynamic_entry().arguments) {
    const ValueView& argument = arguments[size.array];
    const int64_t value = SizeOf(argument, size.dimension);
    ASSIGN_OR_RETURN(uint8_t* const bytes, AddBytes(sizeof(int32_t)));
    const auto narrow = static_cast<int32_t>(value);
    std::memcpy(bytes, &narrow, sizeof narrow);
  }
  return absl::OkStatus();
}

absl::Status DeviceRun::AddArgument(const ValueView& argument, const Shape& want) {
  if (argument.literal != nullptr) return AddLiteral(*argument.literal, want);
  if (argument.value != nullptr) return AddValue(*argument.value, want);
  return AddArray(*argument.shape, argument.elements, want);
}

absl::Status DeviceRun::AddValue(const DeviceValue& value, const Shape& want) {
  const absl::Span<const Buffer> buffers = value.leaves();
  if (want.IsArray()) return AddArray(buffers[0].shape, buffers[0].memory->address(), want);
  size_t next = 0;
  for (const ShapeLeaf& leaf : Leaves(want)) {
    const Buffer& buffer = buffers[next++];
    if (leaf.shape->IsArray()) {
      RETURN_IF_ERROR(AddArray(buffer.shape, buffer.memory->address(), *leaf.shape));
    } else {
      table_.push_back(nullptr);
    }
  }
  return absl::OkStatus();
}

absl::Status DeviceRun::AddArray(const Shape& shape, const void* memory, const Shape& want) {
  const auto* elements = static_cast<const uint8_t*>(memory);
  const bool same_order =
      (shape.IsRowMajor() && want.IsRowMajor()) || shape.MinorToMajor() == want.MinorToMajor();
  if (same_order && reinterpret_cast<uintptr_t>(elements) % kBlockAlignment == 0) {
    table_.push_back(elements);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(uint8_t* const bytes, AddBytes(want.ByteSize()));
  if (bytes == nullptr) return absl::OkStatus();
  if (same_order) {
    std::memcpy(bytes, elements, static_cast<size_t>(want.ByteSize()));
    return absl::OkStatus();
  }
  Literal rows = Literal::Unset(shape);
  FromLayout(elements, shape, rows);
  ToLayout(rows, want, bytes);
  return absl::OkStatus();
}

absl::StatusOr<uint8_t*> DeviceRun::AddBytes(int64_t size) {
  ASSIGN_OR_RETURN(Bytes bytes, AllocateBytes(size));
  table_.push_back(bytes.get());
  converted_.push_back(std::move(bytes));
  return reinterpret_cast<uint8_t*>(converted_.back().get());
}

absl::Status DeviceRun::PlaceDonations(absl::Span<Literal* const> given) {
  const Computation& entry = *e_.module().entry();
  const std::vector<ShapeLeaf> results = Leaves(entry.root()->shape());
  outputs_.resize(results.size());
  std::vector<Literal*> leaves;  // as parameters are numbered; null: only lent
  for (int64_t p = 0; p < entry.parameter_count(); ++p) {
    if (!given.empty() && given[p] != nullptr) {
      CollectLeaves(*given[p], leaves);
    } else {
      leaves.resize(leaves.size() + Leaves(entry.parameter(p)->shape()).size(), nullptr);
    }
  }
  for (const Donation& donation : e_.buffers().donations()) {
    const Shape& shape = *results[donation.result].shape;
    Literal* leaf = leaves[donation.parameter];
    Literal& output = outputs_[donation.result];
    const void* from = table_[donation.parameter];
    const auto bytes = static_cast<size_t>(shape.ByteSize());
    if (leaf != nullptr && from == leaf->data()) {
      output = std::move(*leaf);
      output.set_shape(shape);
      continue;
    }
    output = Literal::Unset(shape);
    if (leaf == nullptr) {
      refills_.push_back({output.data(), from, bytes});
    } else {
      std::memcpy(output.data(), from, bytes);
      *leaf = Literal();
    }
  }
  return absl::OkStatus();
}

absl::Status DeviceRun::AllocateResults() {
  size_t k = 0;
  for (const ShapeLeaf& leaf : Leaves(e_.module().entry()->root()->shape())) {
    Literal& output = outputs_[k];
    if (leaf.shape->IsArray() && output.data() == nullptr) {
      const int64_t size = leaf.shape->ByteSize();
      if (size > (int64_t{1} << 46)) return ResourceExhausted("a result needs ", size, " bytes");
      output = e_.is_dynamic() ? Literal(*leaf.shape) : Literal::Unset(*leaf.shape);
    }
    table_[first_output_ + k++] = output.data();
  }
  return absl::OkStatus();
}

// Donated arguments are written over, tuples are no arrays, and small arrays gain nothing.
void DeviceRun::NoteArguments(const DeviceViews& arguments) {
  SeenArguments::GiveUpDeleted();
  const auto& sizes = e_.buffers().parameter_sizes();
  if (e_.is_dynamic() || sizes.size() != arguments.size()) return;
  const auto count = static_cast<int64_t>(sizes.size());
  for (int64_t k = 0; k < count; ++k) {
    const DeviceValue* const value = arguments[k].value;
    const bool may_freeze = k < static_cast<int64_t>(e_.may_freeze().size()) && e_.may_freeze()[k];
    if (sizes[k] < kLeastSeenBytes || !may_freeze) continue;
    if (value != nullptr && value->leaves().size() != 1) continue;
    const auto number = e_.seen_arguments().Note(
        device_ * count + k, value == nullptr ? nullptr : value->leaves()[0].memory,
        e_.devices().device_count() * count);
    if (!number) continue;
    seen_.resize(count, kUnseen);
    seen_[k] = *number;
  }
}

// Constants are the same on all devices, and have negative numbers.
void DeviceRun::NameFrozen() {
  const auto& constants = e_.buffers().constants();
  if (e_.frozen().empty() && seen_.empty() && constants.empty()) return;
  // Asked now: an array that was given up takes the forms of all along.
  forms_ = e_.seen_arguments().forms();
  frozen_ = FrozenArrays(forms_.get());
  const auto& sizes = e_.buffers().parameter_sizes();
  const auto count = static_cast<int64_t>(sizes.size());
  for (int64_t k = 0; k < count; ++k)
    if (k < static_cast<int64_t>(e_.frozen().size()) && e_.frozen()[k])
      frozen_.Add(device_ * count + k, table_[k], sizes[k]);
    else if (k < static_cast<int64_t>(seen_.size()) && seen_[k] != kUnseen)
      frozen_.Add(seen_[k], table_[k], sizes[k]);
  for (size_t k = 0; k < constants.size(); ++k)
    frozen_.Add(-1 - static_cast<int64_t>(k), table_[sizes.size() + k],
                constants[k]->shape().ByteSize());
  if (!frozen_.empty()) context_.frozen = &frozen_;
}

absl::Status DeviceRun::PrepareShadowed() {
  ASSIGN_OR_RETURN(shadowed_arena_, ShadowedBlock::Make(e_.buffers().arena_size()));
  arena_.reset();
  const auto& parameters = e_.buffers().parameter_sizes();
  for (size_t k = 0; k < parameters.size(); ++k)
    RETURN_IF_ERROR(ShadowInput(
        k, {Slice::Kind::kParameter, static_cast<int64_t>(k), /*offset=*/0, parameters[k]}));
  for (size_t k = 0; k < e_.buffers().constants().size(); ++k)
    RETURN_IF_ERROR(
        ShadowInput(parameters.size() + k, e_.buffers().slice(e_.buffers().constants()[k])));
  for (size_t k = 0; k < outputs_.size(); ++k) {
    const int64_t size = e_.buffers().output_sizes()[k];
    ASSIGN_OR_RETURN(std::unique_ptr<ShadowedBlock> block, ShadowedBlock::Make(size));
    if (table_[first_output_ + k] != nullptr) table_[first_output_ + k] = block->data();
    shadowed_outputs_.push_back(std::move(block));
  }
  return absl::OkStatus();
}

absl::Status DeviceRun::ShadowInput(size_t entry, const Slice& slice) {
  if (table_[entry] == nullptr || slice.size == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::unique_ptr<ShadowedBlock> block, ShadowedBlock::Make(slice.size));
  std::memcpy(block->data(), table_[entry], static_cast<size_t>(slice.size));
  block->SetState(Sanitizer::TagOf(slice));
  table_[entry] = block->data();
  shadowed_inputs_.push_back(std::move(block));
  return absl::OkStatus();
}

void DeviceRun::BeginShadowed() {
  // What is read before it is written shows in the results, too.
  constexpr int kGarbage = 0xa5;
  std::memset(shadowed_arena_->data(), kGarbage, static_cast<size_t>(shadowed_arena_->size()));
  shadowed_arena_->SetState(kUnwritten);
  for (const auto& output : shadowed_outputs_) output->SetState(kUnwritten);
  for (const Donation& donation : e_.buffers().donations()) {
    ShadowedBlock& block = *shadowed_outputs_[donation.result];
    std::memcpy(block.data(), outputs_[donation.result].data(), static_cast<size_t>(block.size()));
    block.SetState(
        Sanitizer::TagOf({Slice::Kind::kOutput, donation.result, /*offset=*/0, block.size()}));
  }
}

void DeviceRun::EndShadowed() {
  for (size_t k = 0; k < outputs_.size(); ++k)
    if (outputs_[k].data() != nullptr)
      std::memcpy(outputs_[k].data(), shadowed_outputs_[k]->data(),
                  static_cast<size_t>(shadowed_outputs_[k]->size()));
}

double DeviceRun::TicksInside(const Computation& computation) const {
  double ticks = 0;
  for (const Instruction* i : computation.Instructions())
    ticks += static_cast<double>(counters_[2 * i->id()]);
  return ticks;
}

Literal DeviceRun::Take(const Shape& shape, size_t& next, bool row_major) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& e : shape.elements) elements.push_back(Take(e, next, row_major));
    return Literal::Tuple(std::move(elements));
  }
  Literal raw = std::move(outputs_[next++]);
  if (!shape.IsArray()) return Literal::Token();
  raw.set_shape(shape);
  if (!row_major || shape.IsRowMajor()) return raw;
  Literal ordered(shape);  // the code wrote in the layout's order
  FromLayout(raw.data(), shape, ordered);
  return ordered;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
