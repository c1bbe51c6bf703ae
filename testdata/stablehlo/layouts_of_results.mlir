// A transpose moves no element, and most operations on it leave them where they are, as XLA infers layouts: those of element by element
// follow the first operand (of a clamp, the value), sorts each operand; products, slices and constants do not.
// RUN: hlo-opt %s
func.func @main(%x: tensor<4x4xf32>, %k: tensor<i32>, %w: tensor<4x4xi16>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4x2xi16>, tensor<4x4xf32>, tensor<i32>, tensor<4x4xf32>) {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = stablehlo.compare LT, %t, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>
  %selected = stablehlo.select %p, %x, %t : tensor<4x4xi1>, tensor<4x4xf32>
  %s = stablehlo.compare LT, %k, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %chosen = stablehlo.select %s, %t, %x : tensor<i1>, tensor<4x4xf32>
  %clamped = stablehlo.clamp %x, %t, %x : tensor<4x4xf32>
  %bounded = stablehlo.clamp %t, %x, %t : tensor<4x4xf32>
  %updated = stablehlo.dynamic_update_slice %t, %x, %k, %k : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  %factor = stablehlo.cholesky %t, lower = true : tensor<4x4xf32>
  %solved = "stablehlo.triangular_solve"(%x, %t) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %sorted:2 = "stablehlo.sort"(%x, %t) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
      %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    }) {dimension = 0 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %halves = stablehlo.bitcast_convert %t : (tensor<4x4xf32>) -> tensor<4x4x2xi16>
  %product = stablehlo.dot %t, %t : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %high = chlo.mulhi %seven, %k : tensor<i32>, tensor<i32> -> tensor<i32>
  %sine = chlo.sinh %t : tensor<4x4xf32> -> tensor<4x4xf32>
  %branch = "stablehlo.if"(%s) ({
      stablehlo.return %t : tensor<4x4xf32>
    }, {
      stablehlo.return %x : tensor<4x4xf32>
    }) : (tensor<i1>) -> tensor<4x4xf32>
  %both = stablehlo.add %branch, %sine : tensor<4x4xf32>
  return %selected, %chosen, %clamped, %bounded, %updated, %factor, %solved, %sorted#0, %sorted#1, %product, %halves, %sine, %high, %both : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4x2xi16>, tensor<4x4xf32>, tensor<i32>, tensor<4x4xf32>
}
// CHECK: f32[4,4]{0,1} select(%compare,
// CHECK: pred[4,4]{0,1} broadcast(%compare.1)
// CHECK: f32[4,4]{0,1} select(%broadcast,
// CHECK: f32[4,4]{0,1} clamp(%Arg_0,
// CHECK: f32[4,4]{1,0} clamp(%transpose,
// CHECK: f32[4,4]{0,1} dynamic-update-slice(
// CHECK: f32[4,4]{0,1} cholesky(
// CHECK: f32[4,4]{0,1} triangular-solve(
// CHECK: (f32[4,4]{1,0}, f32[4,4]{0,1}) sort(
// CHECK: f32[4,4]{1,0} dot(
// CHECK: s16[4,4,2]{2,0,1} bitcast-convert(
// CHECK: f32[4,4]{1,0} subtract(%broadcast.1,
// CHECK: s32[] mulhi(%Arg_1,
// CHECK: f32[4,4]{1,0} conditional(
