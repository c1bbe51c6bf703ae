// A function without a name is refused; one of odd characters is not (names.mlir).
// RUN: not hlo-opt %s
func.func @""(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  return %arg0 : tensor<2xf32>
}
// CHECK: errors_names.mlir:3:1: error: a function has no name
