// What one PTX instruction does is found where it means the same, and only there.
#include "backends/cuda/hardware_forms_internal.h"

#include <gtest/gtest.h>

#include <string>

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace hlokit {
namespace {

// The function's text after a pass.
template <typename Pass>
std::string TextAfter(Pass pass, const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(
      "define void @f(ptr %p, i32 %x, i32 %n, i32 %m, i16 %h, float %v) {\n" + body +
          "\n ret void\n}\n",
      error, context);
  if (module == nullptr) return "no module: " + error.getMessage().str();
  llvm::FunctionAnalysisManager analyses;
  llvm::PassBuilder().registerFunctionAnalyses(analyses);
  llvm::Function& function = *module->getFunction("f");
  pass.run(function, analyses);
  std::string text;
  llvm::raw_string_ostream out(text);
  function.print(out);
  return text;
}

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(HardwareFormsTest, ShiftsBeyondTheWidth) {
  const std::string left = TextAfter(HardwareFormsPass(80), R"(
 %s = shl i32 %x, %n
 %c = icmp ult i32 %n, 32
 %r = select i1 %c, i32 %s, i32 0
 store i32 %r, ptr %p)");
  EXPECT_TRUE(Has(left, "shl.b32")) << left;
  EXPECT_FALSE(Has(left, "select")) << left;
  const std::string right = TextAfter(HardwareFormsPass(80), R"(
 %s = lshr i32 %x, %n
 %c = icmp ugt i32 %n, 31
 %r = select i1 %c, i32 0, i32 %s
 store i32 %r, ptr %p)");
  EXPECT_TRUE(Has(right, "shr.u32")) << right;
}

TEST(HardwareFormsTest, OtherShiftsStay) {
  const char* const bodies[] = {// Another amount is compared.
                                " %s = shl i32 %x, %n\n %c = icmp ult i32 %m, 32\n"
                                " %r = select i1 %c, i32 %s, i32 0\n store i32 %r, ptr %p",
                                // Of another limit.
                                " %s = shl i32 %x, %n\n %c = icmp ult i32 %n, 31\n"
                                " %r = select i1 %c, i32 %s, i32 0\n store i32 %r, ptr %p",
                                // Signed: negative amounts pass.
                                " %s = shl i32 %x, %n\n %c = icmp slt i32 %n, 32\n"
                                " %r = select i1 %c, i32 %s, i32 0\n store i32 %r, ptr %p",
                                // Another value than zero beyond.
                                " %s = shl i32 %x, %n\n %c = icmp ult i32 %n, 32\n"
                                " %r = select i1 %c, i32 %s, i32 %m\n store i32 %r, ptr %p",
                                // Signs are shifted in.
                                " %s = ashr i32 %x, %n\n %c = icmp ult i32 %n, 32\n"
                                " %r = select i1 %c, i32 %s, i32 0\n store i32 %r, ptr %p"};
  for (const char* const body : bodies) {
    const std::string text = TextAfter(HardwareFormsPass(90), body);
    EXPECT_TRUE(Has(text, "select")) << text;
  }
}

TEST(HardwareFormsTest, WideningFromSm90On) {
  const char* const body = R"(
 %w = zext i16 %h to i32
 %s = shl i32 %w, 16
 %f = bitcast i32 %s to float
 store float %f, ptr %p)";
  EXPECT_TRUE(Has(TextAfter(HardwareFormsPass(90), body), "fpext bfloat"));
  EXPECT_FALSE(Has(TextAfter(HardwareFormsPass(89), body), "fpext bfloat"));
}

TEST(HardwareFormsTest, RoundingFromSm80On) {
  const char* const body = R"(
 %b = fptrunc float %v to bfloat
 store bfloat %b, ptr %p)";
  EXPECT_TRUE(Has(TextAfter(BrainRoundingPass(80), body), "llvm.nvvm.f2bf16.rn"));
  const std::string old = TextAfter(BrainRoundingPass(75), body);
  EXPECT_TRUE(Has(old, "fcmp uno") && !Has(old, "fptrunc")) << old;
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
