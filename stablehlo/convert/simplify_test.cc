// What the conversion simplifies, seen in the text of the modules it makes.
#include <gtest/gtest.h>

#include "printer/printer.h"
#include "stablehlo/stablehlo.h"

namespace hlokit {
namespace {

// The module of a function of %x that returns %r, both of these types.
std::string Converted(absl::string_view in, absl::string_view out, absl::string_view body) {
  const std::string text = absl::StrCat("module {\n func.func @main(%x: ", in, ") -> ", out, " {\n",
                                        body, "\n return %r : ", out, "\n }\n}\n");
  auto module = ReadStablehlo(std::make_shared<const SourceFile>("x.mlir", text));
  if (!module.ok()) return module.status().ToString();
  return Print(**module);
}

bool Has(absl::string_view text, absl::string_view part) {
  return text.find(part) != absl::string_view::npos;
}

TEST(SimplifyTest, ConstantsStandOnTheRight) {
  const std::string text = Converted("tensor<2xf32>", "tensor<2xf32>",
                                     "%c = stablehlo.constant dense<2.0> : tensor<2xf32>\n"
                                     "%r = stablehlo.add %c, %x : tensor<2xf32>");
  EXPECT_TRUE(Has(text, "add(%Arg_0, %broadcast")) << text;
}

TEST(SimplifyTest, ConstantsAreComputedWith) {
  const std::string text = Converted("tensor<f32>", "tensor<f32>",
                                     "%a = stablehlo.constant dense<3.0> : tensor<f32>\n"
                                     "%b = stablehlo.constant dense<1.0> : tensor<f32>\n"
                                     "%c = stablehlo.subtract %a, %b : tensor<f32>\n"
                                     "%r = stablehlo.divide %x, %c : tensor<f32>");
  EXPECT_TRUE(Has(text, "constant(2)")) << text;
  EXPECT_FALSE(Has(text, "subtract")) << text;
}

TEST(SimplifyTest, RootsAndLogarithmsOfPositiveConstants) {
  const auto of = [](absl::string_view operation, absl::string_view numbers) {
    return Converted("tensor<2xf32>", "tensor<2xf32>",
                     absl::StrCat("%c = stablehlo.constant dense<", numbers,
                                  "> : tensor<2xf32>\n%y = stablehlo.", operation,
                                  " %c : tensor<2xf32>\n",
                                  "%r = stablehlo.add %x, %y : tensor<2xf32>"));
  };
  EXPECT_TRUE(Has(of("log", "[1.0, 4.0]"), "constant({0, 1.38629436})"))
      << of("log", "[1.0, 4.0]");
  EXPECT_TRUE(Has(of("sqrt", "[0.0, 4.0]"), "constant({0, 2})")) << of("sqrt", "[0.0, 4.0]");
  EXPECT_TRUE(Has(of("rsqrt", "[1.0, 4.0]"), "constant({1, 0.5})")) << of("rsqrt", "[1.0, 4.0]");
  EXPECT_TRUE(Has(of("log", "[0.0, 4.0]"), " log("));
  EXPECT_TRUE(Has(of("sqrt", "[-0.0, 4.0]"), "constant({-0, 2})"));
  EXPECT_TRUE(Has(of("sqrt", "[-1.0, 4.0]"), " sqrt("));
  EXPECT_TRUE(Has(of("rsqrt", "[0.0, 4.0]"), " rsqrt("));
}

TEST(SimplifyTest, NothingIsAddedAndNothingCut) {
  const std::string text =
      Converted("tensor<2xf32>", "tensor<2xf32>",
                "%c = stablehlo.constant dense<0.0> : tensor<2xf32>\n"
                "%0 = stablehlo.add %x, %c : tensor<2xf32>\n"
                "%1 = stablehlo.slice %0 [0:2] : (tensor<2xf32>) -> tensor<2xf32>\n"
                "%r = stablehlo.tanh %1 : tensor<2xf32>");
  EXPECT_TRUE(Has(text, "tanh(%Arg_0)")) << text;
}

struct Form {
  const char* body;
  const char* expected;
};

// Each gives an array of three integers.
TEST(SimplifyTest, WhatIsLeftOfIntegers) {
  const Form forms[] = {
      {"%r = stablehlo.subtract %x, %x : tensor<3xi32>", "broadcast(%constant), dimensions={}"},
      {"%c = stablehlo.constant dense<0> : tensor<3xi32>\n"
       "%y = stablehlo.or %x, %c : tensor<3xi32>\n%r = stablehlo.abs %y : tensor<3xi32>",
       "abs(%Arg_0)"},
      {"%c = stablehlo.constant dense<[5, -3, 7]> : tensor<3xi32>\n"
       "%d = stablehlo.constant dense<[3, 2, 2]> : tensor<3xi32>\n"
       "%r = stablehlo.remainder %c, %d : tensor<3xi32>",
       "constant({2, -1, 1})"},
      {"%c = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
       "%r = stablehlo.reverse %c, dims = [0] : tensor<3xi32>",
       "constant({3, 2, 1})"},
      {"%c = stablehlo.constant dense<[4, 4, 4]> : tensor<3xi32>\n"
       "%r = stablehlo.add %x, %c : tensor<3xi32>",
       "add(%Arg_0, %broadcast)"},
      {"%a = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
       "%b = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
       "%y = stablehlo.add %x, %a : tensor<3xi32>\n%r = stablehlo.multiply %y, %b : tensor<3xi32>",
       "multiply(%add, %constant)"},
      {"%j = stablehlo.concatenate %x, %x, dim = 0 : (tensor<3xi32>, tensor<3xi32>) -> "
       "tensor<6xi32>\n"
       "%s = stablehlo.slice %j [3:6] : (tensor<6xi32>) -> tensor<3xi32>\n"
       "%r = stablehlo.abs %s : tensor<3xi32>",
       "abs(%Arg_0)"},
      {"%j = stablehlo.concatenate %x, %x, dim = 0 : (tensor<3xi32>, tensor<3xi32>) -> "
       "tensor<6xi32>\n"
       "%k = stablehlo.concatenate %j, %x, dim = 0 : (tensor<6xi32>, tensor<3xi32>) -> "
       "tensor<9xi32>\n"
       "%r = stablehlo.slice %k [4:7] : (tensor<9xi32>) -> tensor<3xi32>",
       "concatenate(%Arg_0, %Arg_0, %Arg_0)"},
      {"%j = stablehlo.concatenate %x, %x, dim = 0 : (tensor<3xi32>, tensor<3xi32>) -> "
       "tensor<6xi32>\n"
       "%k = stablehlo.concatenate %j, %j, dim = 0 : (tensor<6xi32>, tensor<6xi32>) -> "
       "tensor<12xi32>\n"
       "%r = stablehlo.slice %k [4:7] : (tensor<12xi32>) -> tensor<3xi32>",
       "concatenate(%concatenate, %concatenate)"},
      {"%i = stablehlo.constant dense<1> : tensor<i32>\n"
       "%r = \"stablehlo.case\"(%i) ({ stablehlo.return %x : tensor<3xi32> }, "
       "{ %a = stablehlo.abs %x : tensor<3xi32>\n stablehlo.return %a : tensor<3xi32> }) : "
       "(tensor<i32>) -> tensor<3xi32>",
       "ROOT %abs"},
  };
  for (const Form& form : forms) {
    const std::string text = Converted("tensor<3xi32>", "tensor<3xi32>", form.body);
    EXPECT_TRUE(Has(text, form.expected)) << text;
  }
}

TEST(SimplifyTest, ABroadcastInAnotherOrderTransposesFirst) {
  const std::string text =
      Converted("tensor<2x3xf32>", "tensor<3x2x4xf32>",
                "%r = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<2x3xf32>) -> "
                "tensor<3x2x4xf32>");
  EXPECT_TRUE(Has(text, "f32[3,2]{0,1} transpose(%Arg_0), dimensions={1,0}")) << text;
  EXPECT_TRUE(Has(text, "broadcast(%transpose), dimensions={0,1}")) << text;
}

TEST(SimplifyTest, TransposesKeepTheElementsInPlace) {
  const std::string text = Converted(
      "tensor<2x3xf32>", "tensor<3x2xf32>",
      "%0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n"
      "%r = stablehlo.negate %0 : tensor<3x2xf32>");
  EXPECT_TRUE(Has(text, "f32[3,2]{0,1} transpose")) << text;
  EXPECT_TRUE(Has(text, "f32[3,2]{0,1} negate")) << text;
  const std::string ones = Converted(
      "tensor<1x3xf32>", "tensor<3x1xf32>",
      "%r = stablehlo.transpose %x, dims = [1, 0] : (tensor<1x3xf32>) -> tensor<3x1xf32>");
  EXPECT_TRUE(Has(ones, "reshape(%Arg_0)")) << ones;
}

TEST(SimplifyTest, IotasHaveOneDimension) {
  const std::string text = Converted("tensor<2x3xi32>", "tensor<2x3xi32>",
                                     "%0 = stablehlo.iota dim = 1 : tensor<2x3xi32>\n"
                                     "%r = stablehlo.add %x, %0 : tensor<2x3xi32>");
  EXPECT_TRUE(Has(text, "s32[3]{0} iota(), iota_dimension=0")) << text;
  EXPECT_TRUE(Has(text, "dimensions={1}")) << text;
}

TEST(SimplifyTest, ArraysWithoutElementsAreConstants) {
  const std::string text =
      Converted("tensor<2x3xf32>", "tensor<0x3xf32>",
                "%r = stablehlo.slice %x [0:0, 0:3] : (tensor<2x3xf32>) -> tensor<0x3xf32>");
  EXPECT_TRUE(Has(text, "f32[0,3]{1,0} constant(")) << text;
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
