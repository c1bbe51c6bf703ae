// What nothing uses is dropped, but for calls and for loops that call: MLIR does not know that functions have no effect.
// RUN: hlo-opt %s
func.func private @f(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %a : tensor<f32>
  return %0 : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %c = stablehlo.cosine %x : tensor<f32>
  %d = call @f(%x) : (tensor<f32>) -> tensor<f32>
  %w = stablehlo.while(%i = %x) : tensor<f32> cond {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %p = stablehlo.compare GT, %i, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %t = stablehlo.tanh %i : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }
  %v = stablehlo.while(%i = %x) : tensor<f32> cond {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %p = stablehlo.compare GT, %i, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %t = func.call @f(%i) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %t : tensor<f32>
  }
  %n = stablehlo.negate %x : tensor<f32>
  return %n : tensor<f32>
}
// CHECK-NOT: tanh
// CHECK: ENTRY
// CHECK-NOT: cosine
// CHECK: call(
// CHECK: while(
// CHECK-NOT: while(
// CHECK: ROOT {{.*}} negate(
