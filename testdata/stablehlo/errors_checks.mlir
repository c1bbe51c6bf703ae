// RUN: not hlo-run --platform=interpreter %s
func.func @main() {
  %0 = stablehlo.constant dense<[1, 2, 4]> : tensor<3xi64>
  check.expect_eq_const %0, dense<[1, 2, 3]> : tensor<3xi64>
  func.return
}
// CHECK: errors_checks.mlir:4:3: error: check.expect_eq does not hold: result s64[3]: 1 of 3 elements differ
// CHECK: expected 3, got 4
// CHECK: check.expect_eq_const %0, dense<[1, 2, 3]> : tensor<3xi64>
