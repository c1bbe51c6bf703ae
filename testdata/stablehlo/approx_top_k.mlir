// ApproxTopK with is_fallback is a sort and a slice, of the first element alone a reduction.
// RUN: hlo-opt %s
func.func @greater(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func public @main(%x: tensor<2x4xf32>, %i: tensor<2x4xi32>) -> (tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x1xf32>, tensor<2x1xi32>) {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %least, %none) {called_computations = [@greater], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  %1:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %least, %none) {called_computations = [@greater], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 1 : i64}} : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x1xf32>, tensor<2x1xi32>)
  return %0#0, %0#1, %1#0, %1#1 : tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x1xf32>, tensor<2x1xi32>
}
// CHECK: ENTRY
// CHECK: [[SORT:%?[a-z.0-9]+]] = (f32[2,4]{1,0}, s32[2,4]{1,0}) sort({{.*}}), dimensions={1}, to_apply=
// CHECK: f32[2,2]{1,0} slice(
// CHECK: = (f32[2]{0}, s32[2]{0}) reduce({{.*}}), dimensions={1}, to_apply=
// CHECK: f32[2,1]{1,0} reshape(
