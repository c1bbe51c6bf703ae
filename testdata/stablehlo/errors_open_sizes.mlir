// RUN: not hlo-opt %s
func.func @main(%x: tensor<6xi64>, %s: tensor<2xi64>) -> tensor<?x?xi64> {
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<6xi64>, tensor<2xi64>) -> tensor<?x?xi64>
  return %0 : tensor<?x?xi64>
}
// CHECK: errors_open_sizes.mlir:3:8: error: stablehlo.dynamic_reshape: the size of the result is known only at run time
