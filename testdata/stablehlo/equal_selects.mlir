// A value that a loop gives as select(p, x, x) stays as it is: it stands behind those that change, as in XLA's conversion.
// RUN: hlo-opt %s
func.func public @main(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%i = %n, %same = %x, %s = %x) : tensor<i32>, tensor<f32>, tensor<f32>
  cond {
    %1 = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %p = stablehlo.compare EQ, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.subtract %i, %one : tensor<i32>
    %3 = stablehlo.select %p, %same, %same : tensor<i1>, tensor<f32>
    %4 = stablehlo.add %s, %same : tensor<f32>
    stablehlo.return %2, %3, %4 : tensor<i32>, tensor<f32>, tensor<f32>
  }
  return %0#2 : tensor<f32>
}
// CHECK: ROOT {{.*}} tuple([[NEXT:%subtract]], [[SUM:%add]], [[SAME:%get-tuple-element.[0-9]+]])
// CHECK: ENTRY
// CHECK-NOT: select
