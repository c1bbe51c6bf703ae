// The sizes of the inputs close the sizes that a program leaves open, in functions that it calls too: what jax.export writes of
// symbolic shapes, with JAX's calls that take sizes as operands.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f32[2,4] {{3, 1, 4, 1}, {5, 9, 2, 6}}
// EXPECT: (f32[2,3] {{4, 3, 1}, {9, 6, 5}}, s32[2,3] {{2, 0, 1}, {1, 3, 0}}, f32[2,4] {{3, 4, 8, 9}, {5, 14, 16, 22}}, f32[2,2] {{4, 3}, {9, 6}}, s32[2,2] {{2, 0}, {1, 3}}, s32[2] {2, 4})
module @m attributes {jax.uses_shape_polymorphism = true} {
  func.func public @main(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi32>, tensor<2xi32>) {
    %rows = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %columns = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.compare GE, %rows, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%0, %rows) {api_version = 2 : i32, error_message = "at least one row, there are {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %1:6 = call @inner(%rows, %columns, %x) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi32>, tensor<2xi32>)
    return %1#0, %1#1, %1#2, %1#3, %1#4, %1#5 : tensor<?x?xf32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi32>, tensor<2xi32>
  }
  func.func @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %a, %b : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @greater(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func private @inner(%rows: tensor<i32>, %columns: tensor<i32>, %x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi32>, tensor<2xi32>) {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %k = stablehlo.subtract %columns, %one : tensor<i32>
    %0:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<?x?xf32>, tensor<i32>) -> (tensor<?x?xf32>, tensor<?x?xi32>)
    // A running sum along the rows: a window as long as the row, padded on its left.
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %ones = stablehlo.constant dense<1> : tensor<2xi32>
    %c1 = stablehlo.reshape %columns : (tensor<i32>) -> tensor<1xi32>
    %o1 = stablehlo.reshape %one : (tensor<i32>) -> tensor<1xi32>
    %window = stablehlo.concatenate %o1, %c1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %none = stablehlo.constant dense<0> : tensor<1x2xi32>
    %k1 = stablehlo.reshape %k : (tensor<i32>) -> tensor<1xi32>
    %z1 = stablehlo.constant dense<0> : tensor<1xi32>
    %left = stablehlo.concatenate %k1, %z1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %left2 = stablehlo.reshape %left : (tensor<2xi32>) -> tensor<1x2xi32>
    %padding = stablehlo.concatenate %none, %left2, dim = 0 : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
    %1 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %zero, %window, %ones, %ones, %ones, %padding) {called_computations = [@add]} : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x?xf32>
    %r1 = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>
    %sizes = stablehlo.concatenate %r1, %c1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %i = stablehlo.dynamic_iota %sizes, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi32>
    %t1 = stablehlo.reshape %two : (tensor<i32>) -> tensor<1xi32>
    %best = stablehlo.concatenate %r1, %t1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %minus = stablehlo.constant dense<-1> : tensor<i32>
    %2:2 = stablehlo.custom_call @stablehlo.dynamic_approx_top_k(%x, %i, %least, %minus, %two, %best, %best) {called_computations = [@greater], indices_of_shape_operands = dense<[5, 6]> : tensor<2xi64>, mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64}} : (tensor<?x?xf32>, tensor<?x?xi32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<?x?xf32>, tensor<?x?xi32>)
    %seed = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
    %3:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%seed, %sizes) {rng_algorithm = #stablehlo<rng_algorithm DEFAULT>} : (tensor<2xui64>, tensor<2xi32>) -> (tensor<2xui64>, tensor<?x?xui32>)
    %n0 = stablehlo.get_dimension_size %3#1, dim = 0 : (tensor<?x?xui32>) -> tensor<i32>
    %n1 = stablehlo.get_dimension_size %3#1, dim = 1 : (tensor<?x?xui32>) -> tensor<i32>
    %n00 = stablehlo.reshape %n0 : (tensor<i32>) -> tensor<1xi32>
    %n11 = stablehlo.reshape %n1 : (tensor<i32>) -> tensor<1xi32>
    %n = stablehlo.concatenate %n00, %n11, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    return %0#0, %0#1, %1, %2#0, %2#1, %n : tensor<?x?xf32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi32>, tensor<2xi32>
  }
}
