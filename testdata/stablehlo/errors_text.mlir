// RUN: not hlo-opt %s
module {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %x, %y : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
// CHECK: errors_text.mlir:4:28: error: %y is not defined here
// CHECK-NEXT: %0 = stablehlo.add %x, %y : tensor<2xf32>
// CHECK-NEXT: ^
