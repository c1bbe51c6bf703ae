// RUN: not hlo-opt %s
func.func @greater(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func public @main(%x: tensor<2x4xf32>, %i: tensor<2x4xi32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %least, %none) {called_computations = [@greater], mhlo.backend_config = {is_fallback = true, reduction_dim = 1 : i64, top_k = 3 : i64}} : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  return %0#0, %0#1 : tensor<2x2xf32>, tensor<2x2xi32>
}
// CHECK: errors_approx_top_k.mlir:9:10: error: stablehlo.custom_call: ApproxTopK: operands and results do not fit each other
