// Ahead-of-time compilation: from a module to an object file by the passes and emitters of the JIT,
// for a target machine of the caller's choice. Target, processor and features are checked by name
// first: LLVM would ignore unknown ones.
#include "backends/cpu/aot/aot_object.h"

#include <dlfcn.h>

#include <mutex>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "analysis/buffer_assignment.h"
#include "backends/cpu/aot/aot_model_internal.h"
#include "backends/cpu/aot/c_names.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_program/module_emitter.h"
#include "backends/cpu/jit/host_target_internal.h"
#include "backends/cpu/jit/object_code_internal.h"
#include "backends/cpu/library_calls/collective_call.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "passes/dynamic_entry.h"
#include "runtime/aot.h"
#include "support/status.h"

// The targets that programs are compiled for. Weak: libhlokit_llvm.so has the first two,
// libhlokit_llvm_targets.so the others (cmake/SlimLlvm.cmake).
#define HLOKIT_AOT_TARGETS(TARGET) \
  TARGET(X86)                      \
  TARGET(AArch64)                  \
  TARGET(ARM)                      \
  TARGET(RISCV)                    \
  TARGET(PowerPC)                  \
  TARGET(SystemZ)                  \
  TARGET(LoongArch)                \
  TARGET(Mips)

extern "C" {
#define HLOKIT_DECLARE(name)                             \
  [[gnu::weak]] void LLVMInitialize##name##TargetInfo(); \
  [[gnu::weak]] void LLVMInitialize##name##Target();     \
  [[gnu::weak]] void LLVMInitialize##name##TargetMC();   \
  [[gnu::weak]] void LLVMInitialize##name##AsmPrinter();
HLOKIT_AOT_TARGETS(HLOKIT_DECLARE)
#undef HLOKIT_DECLARE
}

namespace hlokit {
namespace {

absl::Status CheckName(const std::string& name) {
  if (!IsCName(name) || absl::StartsWithIgnoreCase(name, "hlokit"))
    return InvalidArgument("\"", name, "\" is no name for a program in C and C++");
  return absl::OkStatus();
}

// LLVM would pass over what it does not know.
absl::Status CheckFeatures(const llvm::MCSubtargetInfo& known, const AotOptions& options) {
  for (const absl::string_view feature : absl::StrSplit(options.features, ',', absl::SkipEmpty())) {
    if (feature[0] != '+' && feature[0] != '-')
      return InvalidArgument("target feature \"", feature, "\" begins with neither + nor -");
    const auto is_it = [&](const llvm::SubtargetFeatureKV& f) {
      return feature.substr(1) == f.Key;
    };
    if (!llvm::any_of(known.getAllProcessorFeatures(), is_it))
      return InvalidArgument("the target has no feature ", feature.substr(1));
  }
  return absl::OkStatus();
}

// Runs an initializer of LLVM: the one linked, or that of `library`.
void Initialize(void (*linked)(), void* library, const char* name) {
  if (linked == nullptr && library != nullptr)
    linked = reinterpret_cast<void (*)()>(dlsym(library, name));
  if (linked != nullptr) linked();
}

// Registers with LLVM the targets that are linked, and those that `library` has.
void RegisterTargets(void* library) {
#define HLOKIT_INITIALIZE(function) Initialize(function, library, #function);
#define HLOKIT_REGISTER(name)                         \
  HLOKIT_INITIALIZE(LLVMInitialize##name##TargetInfo) \
  HLOKIT_INITIALIZE(LLVMInitialize##name##Target)     \
  HLOKIT_INITIALIZE(LLVMInitialize##name##TargetMC)   \
  HLOKIT_INITIALIZE(LLVMInitialize##name##AsmPrinter)
  HLOKIT_AOT_TARGETS(HLOKIT_REGISTER)
#undef HLOKIT_REGISTER
#undef HLOKIT_INITIALIZE
}

// The target of `triple`, null with a message in `error` where there is none.
const llvm::Target* LookupTarget(const std::string& triple, std::string& error) {
  static std::mutex mutex;  // LLVM's table of targets is not for several threads
  static bool linked = false, loaded = false;
  const std::lock_guard lock(mutex);
  if (!std::exchange(linked, true)) RegisterTargets(nullptr);
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target != nullptr || std::exchange(loaded, true)) return target;
  void* const library = dlopen("libhlokit_llvm_targets.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  RegisterTargets(library);
  return llvm::TargetRegistry::lookupTarget(triple, error);
}

// What Linux distributions take every machine of an architecture to have, and the calling
// convention that goes with it, where LLVM's own "generic" has less.
struct Baseline {
  const char *features = "", *abi = "";
};

Baseline BaselineOf(const llvm::Triple& triple) {
  if (triple.isRISCV64()) return {"+m,+a,+f,+d,+c", "lp64d"};
  if (triple.isLoongArch64()) return {"+64bit,+f,+d", "lp64d"};
  // LLVM 19 selects no instruction for the rounding to even of two doubles where they are a vector.
  if (triple.isPPC64()) return {"-vsx", ""};
  return {};
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MachineFor(const AotOptions& options) {
  std::string triple = options.triple, cpu = options.cpu, features = options.features;
  if (triple.empty() || cpu == "native") {
    if (!Host().ok()) return Host().status();
    if (triple.empty()) triple = Host()->triple;
    if (cpu.empty() || cpu == "native") {
      cpu = Host()->cpu;
      features =
          features.empty() ? Host()->features : absl::StrCat(Host()->features, ",", features);
    }
  }
  std::string error;
  const llvm::Target* const target = LookupTarget(triple, error);
  if (target == nullptr) return Unimplemented("target ", triple, ": ", error);
  // Asked before a machine is made, which would complain on standard error.
  const std::unique_ptr<llvm::MCSubtargetInfo> known(target->createMCSubtargetInfo(triple, "", ""));
  if (!cpu.empty() && known != nullptr && !known->isCPUStringValid(cpu))
    return InvalidArgument("target ", triple, " has no processor ", cpu);
  if (known != nullptr) RETURN_IF_ERROR(CheckFeatures(*known, options));
  const auto level = options.opt_level == 0   ? llvm::CodeGenOptLevel::None
                     : options.opt_level == 1 ? llvm::CodeGenOptLevel::Less
                                              : llvm::CodeGenOptLevel::Default;
  llvm::TargetOptions target_options;
  if (cpu.empty() && features.empty()) {
    const Baseline baseline = BaselineOf(llvm::Triple(triple));
    features = baseline.features;
    target_options.MCOptions.ABIName = baseline.abi;
  }
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpu, features, target_options, llvm::Reloc::PIC_, llvm::CodeModel::Small, level));
  if (machine == nullptr) return Unimplemented("LLVM has no machine for ", triple);
  const llvm::DataLayout layout = machine->createDataLayout();
  if (layout.isBigEndian() || layout.getPointerSizeInBits() != 64)
    return Unimplemented("target ", triple,
                         ": the runtime is for little-endian machines of 64 bits");
  return machine;
}

// Names of a value's arrays: `name`, or name_0, name_1_2 inside tuples.
void AddArrays(const std::string& name, const Shape& shape, std::vector<AotArray>& out) {
  for (const ShapeLeaf& leaf : Leaves(shape)) {
    std::string full = name;
    for (const int64_t i : leaf.index) absl::StrAppend(&full, "_", i);
    out.push_back({std::move(full), *leaf.shape});
  }
}

// Marks the dynamic dimensions of `arrays`, and names the sizes after them, which begin at
// `place`.
std::vector<AotSize> DescribeSizes(const std::vector<DynamicEntry::Size>& sizes, int64_t place,
                                   std::vector<AotArray>& arrays) {
  std::vector<AotSize> out;
  for (const DynamicEntry::Size& size : sizes) {
    AotArray& array = arrays[size.array];
    array.shape.SetDynamic(size.dimension, true);
    arrays[place].name = absl::StrCat(array.name, "_size_", size.dimension);
    out.push_back({place++, size.array, size.dimension, array.shape.dims[size.dimension]});
  }
  return out;
}

// Arguments and results, with the sizes of dynamic dimensions after those of the module.
void DescribeBorders(const Computation& entry, const DynamicEntry& dynamic, AotObject& object) {
  std::vector<int64_t> first_leaf;  // by parameter
  for (const Instruction* parameter : entry.parameters()) {
    first_leaf.push_back(static_cast<int64_t>(object.arguments.size()));
    AddArrays(parameter->name(), parameter->shape(), object.arguments);
  }
  AddArrays("output", entry.root()->shape(), object.results);
  std::vector<DynamicEntry::Size> arguments = dynamic.arguments;
  for (DynamicEntry::Size& size : arguments) size.array = first_leaf[size.array];
  const auto count = [](const auto& list) { return static_cast<int64_t>(list.size()); };
  object.argument_sizes =
      DescribeSizes(arguments, count(object.arguments) - count(arguments), object.arguments);
  const int64_t sizes = count(object.results) - count(dynamic.results);
  object.result_sizes = DescribeSizes(dynamic.results, sizes, object.results);
  if (dynamic.checked) object.check_result = sizes - 1;
}

// The values of constants, each in its layout and aligned, one after another.
absl::StatusOr<std::string> CollectWeights(const BufferAssignment& buffers,
                                           std::vector<int64_t>& offsets) {
  std::string weights;
  for (const Instruction* i : buffers.constants()) {
    if (i->literal() == nullptr)
      return InvalidArgument("constant %", i->name(),
                             " was left out of the text: `constant({...})`");
    const size_t aligned =
        (weights.size() + HLOKIT_AOT_ALIGNMENT - 1) / HLOKIT_AOT_ALIGNMENT * HLOKIT_AOT_ALIGNMENT;
    offsets.push_back(static_cast<int64_t>(aligned));
    weights.resize(aligned + static_cast<size_t>(i->shape().ByteSize()));
    if (i->shape().ByteSize() > 0)
      ToLayout(*i->literal(), i->shape(), reinterpret_cast<uint8_t*>(&weights[aligned]));
  }
  return weights;
}

// Results that are arguments, unchanged: all that happens to them is a copy at the end.
std::vector<int64_t> PassedThrough(const BufferAssignment& buffers) {
  std::vector<int64_t> arguments(buffers.output_sizes().size(), -1);
  for (const BufferCopy& copy : buffers.output_copies())
    if (copy.from.kind == Slice::Kind::kParameter && copy.to.kind == Slice::Kind::kOutput)
      arguments[copy.to.index] = copy.from.index;
  return arguments;
}

// Only custom calls and feeds may be left to others; `object` names them.
absl::Status CheckCalls(const EmittedModule& emitted, const std::string& name, AotObject& object) {
  std::set<std::string> targets;
  for (const Instruction* i : emitted.reference_calls) {
    if (i->opcode() == Opcode::kCustomCall) {
      const std::string& target = i->attr<CustomCallAttrs>().target;
      if (!IsCName(target) || target == name + "_model" || target == name + "_entry")
        return InvalidArgument("custom call %", i->name(), ": \"", target,
                               "\" is no name for a function in C and C++");
      targets.insert(target);
    } else if (i->opcode() == Opcode::kInfeed || i->opcode() == Opcode::kRecvDone) {
      object.infeeds.push_back(i->shape().elements[0]);
    } else if (i->opcode() == Opcode::kOutfeed || i->opcode() == Opcode::kSend) {
      object.outfeeds.push_back(i->operand(0)->shape());
    } else {
      return Unimplemented("instruction %", i->name(), " (", Text(i->opcode()),
                           ") has no code of its own; it only runs where the interpreter is");
    }
  }
  object.custom_calls.assign(targets.begin(), targets.end());
  return absl::OkStatus();
}

// Several models link into one program: what each defines begins with its name. Linkage stays, as
// inlining goes by it.
void KeepToItself(llvm::Module& code, const std::string& name) {
  for (llvm::Function& function : code) {
    if (function.isDeclaration() || function.hasLocalLinkage()) continue;
    function.setName(name + "." + function.getName());
    function.setVisibility(llvm::GlobalValue::HiddenVisibility);
  }
}

}  // namespace

absl::StatusOr<AotObject> CompileAhead(std::unique_ptr<Module> module, const AotOptions& options) {
  RETURN_IF_ERROR(CheckName(options.name));
  ASSIGN_OR_RETURN(const std::unique_ptr<llvm::TargetMachine> machine, MachineFor(options));
  CompileOptions compile;
  if (!options.run_passes) compile.which_passes = CompileOptions::Passes::kNone;
  DynamicEntry dynamic;
  RETURN_IF_ERROR(LowerForCpu(*module, compile, &dynamic));
  ASSIGN_OR_RETURN(const BufferAssignment buffers,
                   BufferAssignment::Make(*module, {.donate = options.donate}));
  EmitOptions emit;
  emit.triple = machine->getTargetTriple().str();
  emit.data_layout = machine->createDataLayout().getStringRepresentation();
  emit.parts = 1;
  RETURN_IF_ERROR(CheckCollectives(*module));
  ASSIGN_OR_RETURN(EmittedModule emitted, EmitModule(*module, buffers, emit));
  AotObject object;
  RETURN_IF_ERROR(CheckCalls(emitted, options.name, object));
  object.triple = emit.triple;
  object.arena_bytes = buffers.arena_size();
  object.replica_count = module->header().replica_count;
  object.partition_count = module->header().num_partitions;
  object.uses_communicator = emitted.uses_communicator;
  DescribeBorders(*module->entry(), dynamic, object);
  object.donated.assign(object.results.size(), -1);
  for (const Donation& donation : buffers.donations())
    object.donated[donation.result] = donation.parameter;

  llvm::Module& code = *emitted.parts[0].module;
  llvm::Function* entry = code.getFunction(kEntrySymbol);
  KeepToItself(code, options.name);
  entry->setName(options.name + "_entry");
  ASSIGN_OR_RETURN(llvm::Function * host_calls,
                   DefineHostCalls(code, options.name, emitted.reference_calls));
  std::vector<int64_t> offsets;
  ASSIGN_OR_RETURN(std::string weights, CollectWeights(buffers, offsets));
  object.weights_bytes = static_cast<int64_t>(weights.size());
  DefineModel(code, object,
              {options.name, entry, host_calls, std::move(offsets), PassedThrough(buffers), weights,
               options.weights_in_object});
  if (!options.weights_in_object) object.weights = std::move(weights);
  ASSIGN_OR_RETURN(const ObjectBytes bytes, CompileForMachine(code, *machine, options.opt_level));
  object.code.assign(bytes.data(), bytes.size());
  return object;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
