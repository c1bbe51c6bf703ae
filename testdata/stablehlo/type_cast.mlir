// Casts between the names that two dialects have for one type, as portable artifacts with sdy have them.
// RUN: hlo-opt %s
// CHECK: ROOT %{{.*}} = f32[3]{0} negate(%{{.*}})
// CHECK-NOT: convert
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = "builtin.unrealized_conversion_cast"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.negate %0 : tensor<3xf32>
  return %1 : tensor<3xf32>
}
