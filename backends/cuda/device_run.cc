// Steps on a device, driven by the host: kernels are launched on the device's stream, loops and
// branches read the one value that they depend on, what has no kernel is computed by the
// interpreter on copies of its operands. Work on a stream happens in order, so the host waits only
// where it reads.
#include "backends/cuda/device_run_internal.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_format.h"
#include "support/clock.h"
#include "support/diagnostics.h"
#include "support/status.h"
#include "types/literal_leaves.h"

namespace hlokit {
namespace {

// The size of a dynamic dimension of an argument.
int64_t DynamicSizeOf(const ValueView& argument, int d) {
  if (argument.literal != nullptr) return argument.literal->dynamic_size(d);
  if (argument.value != nullptr && !argument.value->leaves()[0].dynamic_sizes.empty())
    return argument.value->leaves()[0].dynamic_sizes[d];
  return argument.shape->dims[d];
}

// The argument as a literal; `storage` holds it where it is none yet.
absl::StatusOr<const Literal*> LiteralOf(const ValueView& view, Literal& storage) {
  if (view.literal != nullptr) return view.literal;
  if (view.value != nullptr) {
    ASSIGN_OR_RETURN(storage, view.value->ToHost());
    return &storage;
  }
  storage = Literal::Unset(*view.shape);
  if (storage.byte_size() > 0)
    FromLayout(static_cast<const uint8_t*>(view.elements), *view.shape, storage);
  return &storage;
}

double Sum(const std::vector<int64_t>& sizes) {
  double sum = 0;  // may exceed int64_t
  for (const int64_t size : sizes) sum += static_cast<double>(size);
  return sum;
}

// Asked for by users whose kernels fault.
bool WaitsForEachStep() {
  static const bool waits = std::getenv("HLOKIT_CUDA_WAIT") != nullptr;
  return waits;
}

// An error of a step, at its instruction.
absl::Status AtStep(const absl::Status& status, const Step& step) {
  if (status.ok()) return status;
  return WithPlace(Annotate(status, absl::StrCat("%", step.instruction->name())),
                   step.instruction->place());
}

}  // namespace

CudaDeviceRun::CudaDeviceRun(const GpuProgram& program, const LoadedCode& code, int64_t device)
    : p_(program), code_(code), device_(device) {
  if (code.driver->has_graphs() && StepGraphs::AreWanted(program))
    graphs_ = std::make_unique<StepGraphs>(program, code.set_condition != nullptr);
}

// Memory is freed in its own context.
CudaDeviceRun::~CudaDeviceRun() { (void)code_.Enter(); }

absl::Status CudaDeviceRun::CheckFits() const {
  const BufferAssignment& buffers = p_.buffers;
  const double arguments = Sum(buffers.parameter_sizes()), results = Sum(buffers.output_sizes());
  double constants = 0;
  for (const Instruction* i : buffers.constants())
    constants += static_cast<double>(i->shape().ByteSize());
  const auto temporary = static_cast<double>(buffers.arena_size() + p_.kernels.scratch_bytes);
  const double bytes = arguments + results + constants + temporary;
  size_t free_bytes = 0, total = 0;
  RETURN_IF_ERROR(
      code_.driver->Check(code_.driver->cuMemGetInfo_v2(&free_bytes, &total), "cuMemGetInfo"));
  if (bytes <= static_cast<double>(free_bytes)) return absl::OkStatus();
  const auto mebibytes = [](double b) { return absl::StrFormat("%.1f MiB", b / (1 << 20)); };
  return ResourceExhausted("the program needs ", mebibytes(bytes), " (arguments ",
                           mebibytes(arguments), ", results ", mebibytes(results), ", constants ",
                           mebibytes(constants), ", temporary memory ", mebibytes(temporary),
                           "); device ", device_, " has ",
                           mebibytes(static_cast<double>(free_bytes)), " free of ",
                           mebibytes(static_cast<double>(total)));
}

absl::Status CudaDeviceRun::Prepare(const DeviceViews& arguments) {
  RETURN_IF_ERROR(code_.Enter());
  RETURN_IF_ERROR(CheckFits());
  const Computation& entry = *p_.module->entry();
  const auto sizes = static_cast<int64_t>(p_.dynamic.arguments.size());
  const int64_t count = entry.parameter_count() - sizes;
  if (static_cast<int64_t>(arguments.size()) != count)
    return InvalidArgument("the program takes ", count, " arguments, ", arguments.size(), " given");
  for (int64_t p = 0; p < count; ++p) {
    const Shape& want = entry.parameter(p)->shape();
    if (!Compatible(want, *arguments[p].shape))
      return InvalidArgument("argument ", p, " is ", Text(*arguments[p].shape), ", expected ",
                             Text(want));
    RETURN_IF_ERROR(AddArgument(arguments[p], want));
  }
  RETURN_IF_ERROR(AddSizes(arguments));
  RETURN_IF_ERROR(AddConstants());
  ASSIGN_OR_RETURN(arena_, CudaMemory::Allocate(*code_.driver, p_.buffers.arena_size()));
  ASSIGN_OR_RETURN(scratch_, CudaMemory::Allocate(*code_.driver, p_.kernels.scratch_bytes));
  for (const int64_t size : p_.buffers.output_sizes()) {
    ASSIGN_OR_RETURN(CudaMemory output, CudaMemory::Allocate(*code_.driver, size));
    outputs_.push_back(std::move(output));
  }
  return Synchronize();  // copies read the host's memory until then
}

absl::Status CudaDeviceRun::AddArgument(const ValueView& argument, const Shape& want) {
  Literal storage;
  ASSIGN_OR_RETURN(const Literal* const literal, LiteralOf(argument, storage));
  return Upload(*literal, want, parameters_);
}

absl::Status CudaDeviceRun::AddSizes(const DeviceViews& arguments) {
  for (const DynamicEntry::Size& size : p_.dynamic.arguments) {
    const auto value = static_cast<int32_t>(DynamicSizeOf(arguments[size.array], size.dimension));
    const Literal literal = Literal::R0(value);
    RETURN_IF_ERROR(Upload(literal, literal.shape(), parameters_));
  }
  return absl::OkStatus();
}

absl::Status CudaDeviceRun::AddConstants() {
  for (const Instruction* i : p_.buffers.constants()) {
    if (i->literal() == nullptr)
      return InvalidArgument("constant %", i->name(),
                             " was left out of the text: `constant({...})`");
    RETURN_IF_ERROR(Upload(*i->literal(), i->shape(), constants_));
  }
  return absl::OkStatus();
}

absl::Status CudaDeviceRun::Upload(const Literal& value, const Shape& shape,
                                   std::vector<CudaMemory>& to) {
  std::vector<const Literal*> values;
  CollectLeaves(value, values);
  size_t next = 0;
  std::vector<uint8_t> converted;
  for (const ShapeLeaf& leaf : Leaves(shape)) {
    const Literal& array = *values[next++];
    const int64_t bytes = leaf.shape->IsArray() ? leaf.shape->ByteSize() : 0;
    ASSIGN_OR_RETURN(CudaMemory memory, CudaMemory::Allocate(*code_.driver, bytes));
    to.push_back(std::move(memory));
    if (bytes == 0) continue;
    const void* from = array.data();
    if (!leaf.shape->IsRowMajor()) {
      converted.resize(static_cast<size_t>(bytes));
      ToLayout(array, *leaf.shape, converted.data());
      from = converted.data();
    }
    RETURN_IF_ERROR(CopyIn(to.back().address(), from, bytes));
    if (from == converted.data()) RETURN_IF_ERROR(Synchronize());
  }
  // A copy may lie in the caller's storage, which ends with the call.
  return Synchronize();
}

CudaDeviceRun::Address CudaDeviceRun::At(const Slice& slice) const {
  switch (slice.kind) {
    case Slice::Kind::kNone:
      return 0;
    case Slice::Kind::kArena:
      return arena_.address() + static_cast<Address>(slice.offset);
    case Slice::Kind::kParameter:
      return parameters_[slice.index].address();
    case Slice::Kind::kConstant:
      return constants_[slice.index].address();
    case Slice::Kind::kOutput:
      return outputs_[slice.index].address();
  }
  return 0;
}

absl::Status CudaDeviceRun::CopyIn(Address to, const void* from, int64_t bytes) const {
  return code_.driver->Check(
      code_.driver->cuMemcpyHtoDAsync_v2(to, from, static_cast<size_t>(bytes), code_.stream),
      "cuMemcpyHtoDAsync");
}

absl::Status CudaDeviceRun::CopyOut(void* to, Address from, int64_t bytes) const {
  RETURN_IF_ERROR(code_.driver->Check(
      code_.driver->cuMemcpyDtoHAsync_v2(to, from, static_cast<size_t>(bytes), code_.stream),
      "cuMemcpyDtoHAsync"));
  return Synchronize();
}

absl::Status CudaDeviceRun::Synchronize() const {
  const absl::Status status =
      code_.driver->Check(code_.driver->cuStreamSynchronize(code_.stream), "cuStreamSynchronize");
  if (status.ok() || WaitsForEachStep()) return status;
  return absl::Status(status.code(), absl::StrCat(status.message(),
                                                  "; the fault may be an earlier step's: "
                                                  "HLOKIT_CUDA_WAIT=1 names it"));
}

absl::Status CudaDeviceRun::Run(DeviceGroup& group) {
  RETURN_IF_ERROR(code_.Enter());
  group_ = &group;
  steps_ = 0;
  RETURN_IF_ERROR(RunSequence(0));
  return Synchronize();
}

absl::Status CudaDeviceRun::RunSequence(int32_t number) {
  const StepSequence& sequence = p_.program.sequences[number];
  if (graphs_ != nullptr && recorder_ == nullptr) {
    for (GraphSegment& segment : graphs_->SegmentsOf(number))
      RETURN_IF_ERROR(RunSegment(number, segment));
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(RunSteps(sequence, 0, sequence.steps.size()));
  return RunCopies(sequence.copies);
}

absl::Status CudaDeviceRun::RunSteps(const StepSequence& sequence, size_t begin, size_t end) {
  for (size_t k = begin; k < end; ++k)
    RETURN_IF_ERROR(AtStep(RunStep(sequence.steps[k]), sequence.steps[k]));
  return absl::OkStatus();
}

absl::Status CudaDeviceRun::CountStep() {
  const int64_t limit = p_.options.limits.steps;
  if (limit > 0 && ++steps_ > limit) return ResourceExhausted("more than ", limit, " steps");
  return absl::OkStatus();
}

absl::Status CudaDeviceRun::RunStep(const Step& step) {
  RETURN_IF_ERROR(CountStep());
  switch (step.kind) {
    case StepKind::kWhile:
      return RunWhile(step);
    case StepKind::kConditional: {
      if (recorder_ != nullptr)
        return recorder_->AddBranches(
            At(step.selector), step.selector.size, static_cast<int>(step.bodies.size()),
            [&](int k) { return RunSequence(step.bodies[static_cast<size_t>(k)]); });
      ASSIGN_OR_RETURN(const size_t branch, ChosenBranch(step));
      return RunSequence(step.bodies[branch]);
    }
    case StepKind::kCall:
      return RunSequence(step.bodies[0]);
    default:
      return p_.options.profile ? RunProfiled(step) : RunWork(step);
  }
}

absl::Status CudaDeviceRun::RunWork(const Step& step) {
  RETURN_IF_ERROR(step.kind == StepKind::kKernel ? RunKernels(step) : RunOnHost(step));
  // A fault of a kernel is seen by a later call, unless the host waits for each.
  return WaitsForEachStep() ? Synchronize() : absl::OkStatus();
}

// Kernels by the device's clock, what the host does by the host's.
absl::Status CudaDeviceRun::RunProfiled(const Step& step) {
  const auto [at, added] = time_of_.emplace(&step, times_.size());
  if (added) times_.push_back({.instruction = step.instruction, .device = device_});
  InstructionTime& time = times_[at->second];
  ++time.calls;
  if (step.kind != StepKind::kKernel) {
    const double start = SteadySeconds();
    RETURN_IF_ERROR(RunWork(step));
    time.seconds += SteadySeconds() - start;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const CudaEvent start, CudaEvent::Record(*code_.driver, code_.stream));
  RETURN_IF_ERROR(RunWork(step));
  ASSIGN_OR_RETURN(const CudaEvent end, CudaEvent::Record(*code_.driver, code_.stream));
  ASSIGN_OR_RETURN(const double seconds, end.SecondsSince(start));
  time.seconds += seconds;
  return absl::OkStatus();
}

std::vector<InstructionTime> CudaDeviceRun::Profile() const { return times_; }

absl::Status CudaDeviceRun::RunKernels(const Step& step) {
  std::vector<Address> arrays;
  for (const std::vector<Slice>* slices : {&step.operands, &step.results})
    for (const Slice& slice : *slices)
      if (slice.kind != Slice::Kind::kNone) arrays.push_back(At(slice));
  arrays.push_back(scratch_.address());
  std::vector<void*> parameters;
  for (Address& array : arrays) parameters.push_back(&array);
  for (const GpuLaunch& launch : p_.kernels.launches.at(&step)) {
    const auto [blocks, threads] = launch.grid;
    if (blocks > INT32_MAX)
      return Unimplemented("a kernel of ", blocks, " blocks: at most ", INT32_MAX,
                           " are supported");
    if (recorder_ != nullptr) {
      RETURN_IF_ERROR(recorder_->AddKernel(code_.functions.at(launch.kernel), blocks, threads,
                                           launch.shared_bytes, parameters.data(),
                                           graphs_->overlaps()));
      continue;
    }
    RETURN_IF_ERROR(code_.driver->Check(
        code_.driver->cuLaunchKernel(
            code_.functions.at(launch.kernel), static_cast<unsigned>(blocks), 1, 1,
            static_cast<unsigned>(threads), 1, 1, static_cast<unsigned>(launch.shared_bytes),
            code_.stream, parameters.data(), nullptr),
        absl::StrCat("cuLaunchKernel of ", launch.kernel)));
  }
  return absl::OkStatus();
}

absl::Status CudaDeviceRun::RunWhile(const Step& step) {
  RETURN_IF_ERROR(RunCopies(step.copies));
  if (recorder_ != nullptr && !graphs_->Unrolls(step)) return RecordWhile(step);
  if (const auto known = p_.trips.find(&step); known != p_.trips.end()) {
    // Nothing to wait for: the launches of all iterations follow one another.
    for (int64_t i = 0; i < known->second; ++i) {
      RETURN_IF_ERROR(CountStep());
      RETURN_IF_ERROR(RunSequence(step.bodies[1]));
    }
    return absl::OkStatus();
  }
  for (;;) {
    RETURN_IF_ERROR(CountStep());
    RETURN_IF_ERROR(RunSequence(step.bodies[0]));
    uint8_t condition = 0;
    RETURN_IF_ERROR(CopyOut(&condition, At(step.selector), 1));
    if (condition == 0) return absl::OkStatus();
    RETURN_IF_ERROR(RunSequence(step.bodies[1]));
  }
}

absl::StatusOr<size_t> CudaDeviceRun::ChosenBranch(const Step& step) const {
  uint32_t number = 0;
  RETURN_IF_ERROR(CopyOut(&number, At(step.selector), step.selector.size));
  if (step.selector.size == 1) return number != 0 ? 0 : 1;
  return std::min<size_t>(number, step.bodies.size() - 1);
}

absl::Status CudaDeviceRun::RunOnHost(const Step& step) {
  std::vector<Literal> operands;
  const Slice* next = step.operands.data();
  for (const Instruction* operand : step.instruction->operands()) {
    ASSIGN_OR_RETURN(Literal value, ReadValue(operand->shape(), next));
    operands.push_back(std::move(value));
  }
  std::vector<const Literal*> pointers;
  for (const Literal& operand : operands) pointers.push_back(&operand);
  ASSIGN_OR_RETURN(const Literal result, group_->Evaluate(device_, *step.instruction, pointers));
  std::vector<const Literal*> leaves;
  CollectLeaves(result, leaves);
  const std::vector<ShapeLeaf> shapes = Leaves(step.instruction->shape());
  std::vector<uint8_t> bytes;
  for (size_t k = 0; k < shapes.size(); ++k) {
    if (step.results[k].kind == Slice::Kind::kNone) continue;
    bytes.resize(static_cast<size_t>(shapes[k].shape->ByteSize()));
    ToLayout(*leaves[k], *shapes[k].shape, bytes.data());
    RETURN_IF_ERROR(CopyIn(At(step.results[k]), bytes.data(), shapes[k].shape->ByteSize()));
    RETURN_IF_ERROR(Synchronize());
  }
  return absl::OkStatus();
}

absl::Status CudaDeviceRun::Copy(Address to, Address from, int64_t bytes) const {
  if (bytes == 0 || to == from) return absl::OkStatus();
  if (recorder_ != nullptr) return recorder_->AddCopy(to, from, bytes);
  return code_.driver->Check(
      code_.driver->cuMemcpyDtoDAsync_v2(to, from, static_cast<size_t>(bytes), code_.stream),
      "cuMemcpyDtoDAsync");
}

absl::Status CudaDeviceRun::RunCopies(const std::vector<BufferCopy>& copies) const {
  std::vector<Address> sources;
  for (const BufferCopy& c : copies) {
    const bool staged = c.staging.kind != Slice::Kind::kNone;
    if (staged) RETURN_IF_ERROR(Copy(At(c.staging), At(c.from), c.to.size));
    sources.push_back(At(staged ? c.staging : c.from));
  }
  for (size_t k = 0; k < copies.size(); ++k)
    RETURN_IF_ERROR(Copy(At(copies[k].to), sources[k], copies[k].to.size));
  return absl::OkStatus();
}

absl::StatusOr<Literal> CudaDeviceRun::ReadValue(const Shape& shape, const Slice*& next) const {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& e : shape.elements) {
      ASSIGN_OR_RETURN(Literal element, ReadValue(e, next));
      elements.push_back(std::move(element));
    }
    return Literal::Tuple(std::move(elements));
  }
  const Slice& slice = *next++;
  if (!shape.IsArray()) return Literal::Token();
  Literal literal(shape);
  if (literal.byte_size() == 0 || slice.kind == Slice::Kind::kNone) return literal;
  if (shape.IsRowMajor()) {
    RETURN_IF_ERROR(CopyOut(literal.data(), At(slice), literal.byte_size()));
    return literal;
  }
  std::vector<uint8_t> bytes(static_cast<size_t>(literal.byte_size()));
  RETURN_IF_ERROR(CopyOut(bytes.data(), At(slice), literal.byte_size()));
  FromLayout(bytes.data(), shape, literal);
  return literal;
}

// The leaves after those of the result are whether sizes are in range, and the sizes.
absl::Status CudaDeviceRun::SetDynamicSizes(Literal& result) const {
  const DynamicEntry& dynamic = p_.dynamic;
  std::vector<Literal*> leaves;
  CollectLeaves(result, leaves);
  size_t next = leaves.size();
  const absl::Status out_of_range =
      InvalidArgument("the size of a dynamic dimension is out of range");
  if (dynamic.checked) {
    uint8_t in_range = 0;
    RETURN_IF_ERROR(CopyOut(&in_range, outputs_[next++].address(), 1));
    if (in_range == 0) return out_of_range;
  }
  for (const DynamicEntry::Size& size : dynamic.results) {
    int32_t value = 0;
    RETURN_IF_ERROR(CopyOut(&value, outputs_[next++].address(), sizeof value));
    if (value < 0 || value > leaves[size.array]->shape().dims[size.dimension]) return out_of_range;
    leaves[size.array]->set_dynamic_size(size.dimension, value);
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> CudaDeviceRun::TakeResult() {
  RETURN_IF_ERROR(code_.Enter());
  const DynamicEntry& dynamic = p_.dynamic;
  const bool is_dynamic = dynamic.checked || !dynamic.results.empty();
  const Shape& shape = is_dynamic ? dynamic.result : p_.module->entry()->root()->shape();
  std::vector<Slice> slices;
  for (size_t k = 0; k < outputs_.size(); ++k)
    slices.push_back({Slice::Kind::kOutput, static_cast<int64_t>(k)});
  const Slice* next = slices.data();
  ASSIGN_OR_RETURN(Literal result, ReadValue(shape, next));
  if (is_dynamic) RETURN_IF_ERROR(SetDynamicSizes(result));
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
