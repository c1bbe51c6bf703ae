// Addresses that differ by a constant become one address and a distance, where the sums in them do
// not wrap and the first one dominates.
#include <gtest/gtest.h>

#include <string>

#include "backends/cuda/neighbour_addresses_internal.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace hlokit {
namespace {

// The function's text after the pass.
std::string AfterPass(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(
      "define void @f(ptr %x, i32 %a, i32 %b, i1 %c) {\n" + body + "\n ret void\n}\n", error,
      context);
  if (module == nullptr) return "no module: " + error.getMessage().str();
  llvm::FunctionAnalysisManager analyses;
  llvm::PassBuilder().registerFunctionAnalyses(analyses);
  llvm::Function& function = *module->getFunction("f");
  NeighbourAddressesPass().run(function, analyses);
  std::string text;
  llvm::raw_string_ostream out(text);
  function.print(out);
  return text;
}

TEST(NeighbourAddressesTest, DistanceOfNeighbours) {
  const std::string text = AfterPass(R"(
 %row = mul nsw i32 %a, 1000
 %i = add nsw i32 %row, %b
 %p = getelementptr inbounds float, ptr %x, i32 %i
 store float 0.0, ptr %p
 %next = add nsw i32 %b, 1
 %j = add nsw i32 %row, %next
 %q = getelementptr inbounds float, ptr %x, i32 %j
 store float 1.0, ptr %q)");
  EXPECT_NE(text.find("getelementptr inbounds i8, ptr %p, i64 4"), std::string::npos) << text;
}

TEST(NeighbourAddressesTest, OthersStay) {
  const char* const bodies[] = {
      // wraps
      " %p = getelementptr inbounds float, ptr %x, i32 %a\n store float 0.0, ptr %p\n"
      " %j = add i32 %a, 1\n %q = getelementptr inbounds float, ptr %x, i32 %j\n"
      " store float 1.0, ptr %q",
      // other factors
      " %i = mul nsw i32 %a, 3\n %p = getelementptr inbounds float, ptr %x, i32 %i\n"
      " store float 0.0, ptr %p\n %j = mul nsw i32 %a, 5\n"
      " %q = getelementptr inbounds float, ptr %x, i32 %j\n store float 1.0, ptr %q",
      // not always computed before
      " br i1 %c, label %then, label %join\nthen:\n"
      " %p = getelementptr inbounds float, ptr %x, i32 %a\n store float 0.0, ptr %p\n"
      " br label %join\njoin:\n %j = add nsw i32 %a, 1\n"
      " %q = getelementptr inbounds float, ptr %x, i32 %j\n store float 1.0, ptr %q"};
  for (const char* const body : bodies)
    EXPECT_EQ(AfterPass(body).find("i8"), std::string::npos) << AfterPass(body);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
