// Reductions with a named reducer and with a region of several values; a sort; a window.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f32[2,3] {{3, 1, 2}, {4, 6, 5}}
// EXPECT: (f32[2], f32[2], s32[2], f32[2,3], f32[2,2]) ({6, 15}, {3, 6}, {0, 1}, {{3, 2, 1}, {6, 5, 4}}, {{4, 3}, {10, 11}})
module {
  func.func @main(%x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2x3xf32>, tensor<2x2xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %first = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %at = stablehlo.iota dim = 1 : tensor<2x3xi32>
    %1:2 = stablehlo.reduce(%x init: %low), (%at init: %first) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>)  {
      %2 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<f32>
      %4 = stablehlo.select %2, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %3, %4 : tensor<f32>, tensor<i32>
    }
    %5 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %6 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %7 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %8 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %8 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
    return %0, %1#0, %1#1, %5, %7 : tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2x3xf32>, tensor<2x2xf32>
  }
}
