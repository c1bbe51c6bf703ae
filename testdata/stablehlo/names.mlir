// RUN: hlo-opt %s
// Names of functions and modules take `_` for what no HLO name holds, as in XLA.
module @"jit f(x)" {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = func.call @"a b<x>"(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @"a b<x>"(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
// CHECK: HloModule jit_f_x_,
// CHECK: %a_b_x_ (
// CHECK: to_apply=%a_b_x_
