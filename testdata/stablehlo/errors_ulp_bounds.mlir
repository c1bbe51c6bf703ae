// RUN: not hlo-run --platform=interpreter %s
func.func @main() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_close %a, %a, max_ulp_difference = 5, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  func.return
}
// CHECK: errors_ulp_bounds.mlir:4:3: error: check.expect_close does not hold: element 0 is nearer than 1 ulps
