// Bounds of both sides on how far values are apart; values that are no numbers are as far as can be.
// RUN: hlo-run --platform=interpreter %s
func.func @main() {
  %a = stablehlo.constant dense<"0xFFFF7FFF0000803F9A99993F"> : tensor<3xf32>
  %b = stablehlo.constant dense<"0xFAFF7FFF0500803F9F99993F"> : tensor<3xf32>
  check.expect_close %a, %b, max_ulp_difference = 5, min_ulp_difference = 5 : tensor<3xf32>, tensor<3xf32>
  check.expect_close %a, %a, max_ulp_difference = 0, min_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  %inf = stablehlo.constant dense<"0x0000807F0000807F0000807F"> : tensor<3xf32>
  %odd = stablehlo.constant dense<"0x000080FF0000C07F00000000"> : tensor<3xf32>
  check.expect_close %inf, %odd, max_ulp_difference = 18446744073709551615, min_ulp_difference = 18446744073709551615 : tensor<3xf32>, tensor<3xf32>
  func.return
}
// CHECK: 1 run
