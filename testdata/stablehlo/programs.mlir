// Several programs in a file: parts between lines, and public functions where none is called main. Those that
// others name are no programs of their own.
// RUN: hlo-run --platform=interpreter %s
func.func @sum() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %1 = stablehlo.add %0, %0 : tensor<2xi64>
  check.expect_eq_const %1, dense<[2, 4]> : tensor<2xi64>
  func.return
}

// CHECK: == sum
// CHECK: == product
// CHECK: == grid
// CHECK-NOT: == side
// CHECK: == main
// -----

// -----
func.func @product() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %1 = stablehlo.multiply %0, %0 : tensor<2xi64>
  check.expect_eq_const %1, dense<[1, 4]> : tensor<2xi64>
  func.return
}
func.func @grid() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %1:2 = "interpreter.run_parallel"(%0, %0) {programs = [[@side], [@side]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
  check.expect_eq_const %1#1, dense<[-1, -2]> : tensor<2xi64>
  func.return
}
func.func @side(%x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = stablehlo.negate %x : tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----
module @last {
  func.func public @other(%x: tensor<f32>) { return }
  func.func public @main() {
    %0 = stablehlo.constant dense_resource<r> : tensor<2xf32>
    check.expect_eq_const %0, dense<[1.0, 2.0]> : tensor<2xf32>
    return
  }
}
{-#
  dialect_resources: { builtin: { r: "0x040000000000803F00000040" } }
#-}
