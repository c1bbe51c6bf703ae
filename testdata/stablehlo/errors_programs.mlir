// A part of a file that is wrong is told with its line; the others run. Tools of one module take one program.
// RUN: not hlo-run --platform=interpreter %s
func.func @right() { return }

// -----
func.func @wrong() {
  %0 = stablehlo.add %1, %1 : tensor<2xi64>
  return
}

// -----
func.func @later() {
  %0 = stablehlo.constant dense<1> : tensor<i64>
  check.expect_eq_const %0, dense<2> : tensor<i64>
  return
}
// CHECK: errors_programs.mlir:7:22: error: %1 is not defined here
// CHECK: errors_programs.mlir:14:3: error: check.expect_eq does not hold
