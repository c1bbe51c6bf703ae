// Regions take their values in default layouts, whatever layouts these have outside, as XLA's conversion makes a region's
// parameters of MLIR's types alone.
// RUN: hlo-opt %s
// CHECK-NOT: {0,1} parameter
// CHECK-NOT: {0,1} get-tuple-element
// CHECK: (s32[], f32[2,3]{1,0}, f32[2,3]{1,0}) parameter(0)
// CHECK: (s32[], f32[2,3]{1,0}, f32[2,3]{0,1}) while(
// CHECK: f32[2,3]{1,0} conditional(
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f32[3,2] {{1, 2}, {3, 4}, {5, 6}}      INPUT: pred[] true
// EXPECT: (f32[2,3], f32[2,3]) ({{3, 9, 15}, {6, 12, 18}}, {{2, 6, 10}, {4, 8, 12}})
func.func @main(%a: tensor<3x2xf32>, %p: tensor<i1>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %r:3 = stablehlo.while(%i = %zero, %sum = %none, %x = %t) : tensor<i32>, tensor<2x3xf32>, tensor<2x3xf32>
  cond {
    %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %next = stablehlo.add %sum, %x : tensor<2x3xf32>
    stablehlo.return %j, %next, %x : tensor<i32>, tensor<2x3xf32>, tensor<2x3xf32>
  }
  %twice = "stablehlo.if"(%p) ({
    %q = stablehlo.add %t, %t : tensor<2x3xf32>
    stablehlo.return %q : tensor<2x3xf32>
  }, {
    stablehlo.return %t : tensor<2x3xf32>
  }) : (tensor<i1>) -> tensor<2x3xf32>
  return %r#1, %twice : tensor<2x3xf32>, tensor<2x3xf32>
}
