// Sums from the end on.
// RUN: hlo-opt %s
func.func @main(%input: tensor<4xi32>) -> (tensor<4xi32>, tensor<i32>) {
  %init = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = chlo.scan(%input) inits(%init) dimension=0 attributes {is_reverse = true} {
  ^bb0(%x: tensor<i32>, %carried: tensor<i32>):
    %1 = stablehlo.add %x, %carried : tensor<i32>
    stablehlo.return %1, %1 : tensor<i32>, tensor<i32>
  } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  func.return %0#0, %0#1: tensor<4xi32>, tensor<i32>
}
// CHECK: scan(%Arg_0, %constant), dimensions={0}, num_carries=1, is_reverse=true, is_associative=false
