// RUN: not hlo-opt %s
module {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.unheard_of %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
// CHECK: errors_convert.mlir:4:10: error: the operation stablehlo.unheard_of is not known
// CHECK-NEXT: %0 = stablehlo.unheard_of %x : tensor<2xf32>
// CHECK-NEXT: ^~~~~~~~~~~~~~~~~~~~
