// Inputs that do not fit the types or that the program refuses, and no inputs at all.
// RUN: echo "f32[0] {}" > %t0.txt; echo "f32[2,2] {{1,2},{3,4}}" > %t1.txt
// RUN: not hlo-run %s --input=%t0.txt
// RUN: not hlo-run %s --input=%t1.txt
// RUN: not hlo-run %s
func.func public @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.compare GE, %0, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "at least one number, there are {0}"} : (tensor<i1>, tensor<i32>) -> ()
  %2:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %0) : (tensor<?xf32>, tensor<i32>) -> (tensor<?xf32>, tensor<?xi32>)
  return %2#0 : tensor<?xf32>
}
// CHECK: errors_dynamic_calls.mlir:10:3: error: shape_assertion: at least one number, there are 0
// CHECK: errors_dynamic_calls.mlir:6:1: error: argument 0 is f32[?]; an array of f32[2,2] does not fit
// CHECK: errors_dynamic_calls.mlir:11:10: error: stablehlo.custom_call: k is known only at run time
