// Comparisons of chlo; written/chlo_compare.mlirbc is what MLIR writes of them: directions and types as numbers.
// RUN: hlo-opt %s
func.func @main(%x: tensor<4xi32>, %f: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  %0 = chlo.broadcast_compare %x, %x {comparison_direction = #chlo<comparison_direction LE>, compare_type = #chlo<comparison_type SIGNED>} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %1 = chlo.broadcast_compare %f, %f {comparison_direction = #chlo<comparison_direction NE>, compare_type = #chlo<comparison_type TOTALORDER>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0, %1 : tensor<4xi1>, tensor<4xi1>
}
// CHECK: compare(%{{.*}}, %{{.*}}), direction=LE
// CHECK: compare(%{{.*}}, %{{.*}}), direction=NE, type=TOTALORDER
