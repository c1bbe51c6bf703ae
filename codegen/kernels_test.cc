// The shared strategies give the same bits however a target cuts elements into units, and for
// indices of 32 and 64 bits.
#include "codegen/kernels.h"
#include "analysis/emittable.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "codegen/kernel_strategies.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "parser/parser.h"
#include "types/random_literal.h"

namespace hlokit {
namespace {

constexpr KernelStrategy kStrategies[] = {{"scatter", AddScatterKernels},
                                          {"update", AddUpdateKernels},
                                          {"concatenate", AddConcatenateKernels},
                                          {"elements", AddElementKernels}};

constexpr TargetInfo kLongUnits = {.copy_bytes = 64,
                                   .tiling = {.min_elements = 64,
                                              .min_row = 64,
                                              .max_row = 1024,
                                              .max_unrolled = 7,
                                              .max_unrolled_work = 96}};
constexpr TargetInfo kOneElement = {};
constexpr TargetInfo kNarrowIndices = {.index_bits = 32};
constexpr TargetInfo kFourNarrow = {
    .index_bits = 32, .copy_bytes = 16, .tiling = {.min_elements = 4, .min_row = 4, .max_row = 4}};

std::unique_ptr<Module> Parsed(absl::string_view body) {
  Diagnostics diagnostics;
  const std::string text = absl::StrCat(R"(HloModule m
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ge {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = pred[] compare(x, y), direction=GE
}
fused {
  p = f32[12,10] parameter(0)
  t = f32[10,12] transpose(p), dimensions={1,0}
  s = f32[5,12] slice(t), slice={[0:10:2], [0:12]}
  r = f32[4,15] reshape(s)
  v = f32[4,15] reverse(r), dimensions={1}
  b = f32[4,15,3] broadcast(v), dimensions={0,1}
  n = s32[4,15,3] iota(), iota_dimension=1
  f = f32[4,15,3] convert(n)
  ROOT a = f32[4,15,3]{1,2,0} add(b, f)
}
ENTRY e {
)",
                                        body, "\n}\n");
  auto parsed = ParseModule(std::make_shared<const SourceFile>("test.hlo", text), ParseOptions(),
                            diagnostics);
  if (!parsed.ok()) ADD_FAILURE() << parsed.status() << "\n" << text;
  return parsed.ok() ? *std::move(parsed) : nullptr;
}

// Arrays of one instruction: a table of pointers, operands first.
class TableArrays final : public KernelArrays {
 public:
  TableArrays(Builder& b, llvm::Value* table, const Instruction& i) : b_(b), table_(table), i_(i) {}
  ArrayRef operand(int64_t o) override { return {Entry(o), i_.operand(o)->shape()}; }
  ArrayRef result(int64_t) override { return {Entry(i_.operand_count()), i_.shape()}; }

 private:
  llvm::Value* Entry(int64_t k) {
    return b_.CreateLoad(b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), table_, k));
  }
  Builder& b_;
  llvm::Value* table_;
  const Instruction& i_;
};

// void NAME(void** table, i64 begin, i64 end)
void EmitFunction(llvm::Module& module, const std::string& name, const Kernel& kernel,
                  const Instruction& i) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {llvm::PointerType::get(context, 0), i64, i64}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  Builder b(llvm::BasicBlock::Create(context, "entry", function));
  b.set_index_bits(kernel.index_bits);
  TableArrays arrays(b, function->getArg(0), i);
  kernel.emit(b, arrays, b.CreateTrunc(function->getArg(1), b.IndexType()),
              b.CreateTrunc(function->getArg(2), b.IndexType()));
  b.CreateRetVoid();
  ASSERT_EQ(arrays.unsupported, nullptr);
}

using KernelFunction = void (*)(void**, int64_t, int64_t);

// The result's bytes. Units run one by one, the last first, where `by_unit` says so: as threads of
// a GPU may.
std::vector<uint8_t> ResultBytes(const Instruction& i, const TargetInfo& target, bool by_unit) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  const std::vector<Kernel> kernels = MakeKernels(
      i, [](int64_t, int64_t) { return false; }, target, kStrategies);
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("kernels", *context);
  for (size_t k = 0; k < kernels.size(); ++k) {
    EXPECT_EQ(kernels[k].index_bits, target.index_bits);
    EmitFunction(*module, absl::StrCat("kernel", k), kernels[k], i);
  }
  if (llvm::verifyModule(*module, &llvm::errs())) ADD_FAILURE() << i.name();
  auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::cantFail(
      jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));

  std::vector<Literal> operands;
  std::vector<void*> table;
  for (int64_t o = 0; o < i.operand_count(); ++o) {
    operands.push_back(Literal::Unset(i.operand(o)->shape()));
    FillRandom(operands.back(), static_cast<uint64_t>(o), RandomRanges());
  }
  for (Literal& operand : operands) table.push_back(operand.data());
  // Other bytes each time, so that elements which nothing writes differ.
  static uint8_t fill = 1;
  std::vector<uint8_t> result(i.shape().ByteSize(), fill++);
  table.push_back(result.data());
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto run = llvm::cantFail(jit->lookup(absl::StrCat("kernel", k))).toPtr<KernelFunction>();
    if (!by_unit) run(table.data(), 0, kernels[k].units);
    for (int64_t unit = kernels[k].units; by_unit && unit-- > 0;) run(table.data(), unit, unit + 1);
  }
  return result;
}

TEST(KernelsTest, TilingAndIndexWidthChangeNoBits) {
  constexpr const char* kRoots[] = {
      "p = f32[16,12] parameter(0)\nROOT r = f32[16,12] negate(p)",
      "p = f32[16,12]{0,1} parameter(0)\nROOT r = f32[16,12]{1,0} negate(p)",
      "p = c64[7,5] parameter(0)\nROOT r = c64[5,7] transpose(p), dimensions={1,0}",
      "p = f32[12,10] parameter(0)\nROOT r = f32[4,15,3]{1,2,0} fusion(p), kind=kLoop, "
      "calls=fused",
      "p = f32[6,9] parameter(0)\nz = f32[] parameter(1)\n"
      "ROOT r = f32[15,8] pad(p, z), padding=1_3_1x-1_0",
      "p = f32[3,5] parameter(0)\nq = f32[3,2] parameter(1)\n"
      "ROOT r = f32[3,12] concatenate(p, q, p), dimensions={1}",
      "p = f32[3,40,5] parameter(0)\nz = f32[] parameter(1)\n"
      "ROOT r = f32[3,5] reduce(p, z), dimensions={1}, to_apply=add",
      "p = f32[9,11] parameter(0)\nz = f32[] parameter(1)\nROOT r = f32[5,11] reduce-window(p, z), "
      "window={size=3x3 stride=2x1 pad=1_1x1_1}, to_apply=add",
      "p = f32[9,11] parameter(0)\ni = s64[4,2] parameter(1)\nROOT r = f32[4,3,1] gather(p, i), "
      "offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={1,0}, index_vector_dim=1, "
      "slice_sizes={3,1}",
      "p = f32[9,11] parameter(0)\ni = s64[] parameter(1)\nj = u8[] parameter(2)\n"
      "ROOT r = f32[4,6] dynamic-slice(p, i, j), dynamic_slice_sizes={4,6}",
      "p = f32[9,11] parameter(0)\nu = f32[4,6] parameter(1)\ni = s64[] parameter(2)\n"
      "j = u8[] parameter(3)\nROOT r = f32[9,11] dynamic-update-slice(p, u, i, j)",
      "p = f32[9,11] parameter(0)\ni = s64[4,1] parameter(1)\nu = f32[4,11] parameter(2)\n"
      "ROOT r = f32[9,11] scatter(p, i, u), update_window_dims={1}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
      "p = f32[8,6] parameter(0)\ns = f32[4,3] parameter(1)\nz = f32[] parameter(2)\n"
      "ROOT r = f32[8,6] select-and-scatter(p, s, z), window={size=2x2 stride=2x2}, select=ge, "
      "scatter=add",
      "p = f32[6,7] parameter(0)\nq = f32[7,5] parameter(1)\nROOT r = f32[6,5] dot(p, q), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
      "p = u8[6,4] parameter(0)\nROOT r = f32[6] bitcast-convert(p)",
      "p = f64[3,4] parameter(0)\nROOT r = f32[3,4,2] bitcast-convert(p)",
  };
  for (const char* text : kRoots) {
    const std::unique_ptr<Module> module = Parsed(text);
    ASSERT_NE(module, nullptr);
    const Instruction& root = *module->entry()->root();
    ASSERT_TRUE(CanEmitKernels(root)) << text;
    const std::vector<uint8_t> expected = ResultBytes(root, kLongUnits, false);
    for (const TargetInfo* target : {&kLongUnits, &kOneElement, &kNarrowIndices, &kFourNarrow})
      EXPECT_EQ(ResultBytes(root, *target, true), expected) << text;
  }
}

TEST(KernelsTest, LargeArraysTakeIndicesOf64Bits) {
  const auto bits = [](absl::string_view text) {
    const std::unique_ptr<Module> module = Parsed(text);
    return IndexBitsOf(Expression::Of(module->entry()->root()), kNarrowIndices);
  };
  EXPECT_EQ(bits("p = u8[1048576,1024] parameter(0)\nROOT r = u8[1048576,1024] not(p)"), 32);
  EXPECT_EQ(bits("p = u8[1048576,1025] parameter(0)\nROOT r = u8[1048576,1025] not(p)"), 64);
  // The operand alone is large.
  EXPECT_EQ(bits("p = u8[1048576,2048] parameter(0)\nROOT r = u8[4,4] slice(p), "
                 "slice={[0:4], [0:4]}"),
            64);
  // Positions in the padded operand are, though neither array is.
  EXPECT_EQ(bits("p = f32[8] parameter(0)\nz = f32[] parameter(1)\nROOT r = f32[8] pad(p, z), "
                 "padding=-2000000000_2000000000"),
            64);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
