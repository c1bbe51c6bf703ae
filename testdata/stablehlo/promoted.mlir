// Regions that combine elements in a wider type than that of the operands, as the specification allows.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: s8[2,3] {{100, 100, 100}, {1, 2, 3}}      INPUT: f32[4] {1, 3, 2, 0}
// EXPECT: (s32[2], s32[2,2], s32[2], f64[4], f64[4], f64[4]) ({301, 7}, {{201, 201}, {4, 6}}, {200, 7}, {0, 5, 7, 0}, {1, 4.5, 2, 0.5}, {1, 3, 2, 0})
func.func @side(%x: tensor<3xi8>) -> tensor<3xi32> {
  %r = "stablehlo.all_reduce"(%x) ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %s = stablehlo.add %p, %q : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<3xi8>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}
func.func @main(%x: tensor<2x3xi8>, %y: tensor<4xf32>) -> (tensor<2xi32>, tensor<2x2xi32>, tensor<2xi32>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) {
  %one = stablehlo.constant dense<1> : tensor<i8>
  %a = "stablehlo.reduce"(%x, %one) ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %s = stablehlo.add %p, %q : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {dimensions = array<i64: 1>} : (tensor<2x3xi8>, tensor<i8>) -> tensor<2xi32>
  %b = "stablehlo.reduce_window"(%x, %one) ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %s = stablehlo.add %p, %q : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {window_dimensions = array<i64: 1, 2>} : (tensor<2x3xi8>, tensor<i8>) -> tensor<2x2xi32>
  %r0 = stablehlo.slice %x [0:1, 0:3] : (tensor<2x3xi8>) -> tensor<1x3xi8>
  %row = stablehlo.reshape %r0 : (tensor<1x3xi8>) -> tensor<3xi8>
  %c0:2 = "interpreter.run_parallel"(%row, %row) {programs = [[@side], [@side]]} : (tensor<3xi8>, tensor<3xi8>) -> (tensor<3xi32>, tensor<3xi32>)
  check.expect_eq_const %c0#1, dense<200> : tensor<3xi32>
  %first = stablehlo.slice %c0#0 [0:1] : (tensor<3xi32>) -> tensor<1xi32>
  %second = stablehlo.slice %a [1:2] : (tensor<2xi32>) -> tensor<1xi32>
  %c = stablehlo.concatenate %first, %second, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %updates = stablehlo.constant dense<[5.0, 7.0]> : tensor<2xf32>
  %d = "stablehlo.select_and_scatter"(%y, %updates, %zero) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, {
  ^bb0(%p: tensor<f64>, %q: tensor<f64>):
    %s = stablehlo.add %p, %q : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>} : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf64>
  %at = stablehlo.constant dense<[[1], [3]]> : tensor<2x1xi32>
  %more = stablehlo.constant dense<[1.5, 0.5]> : tensor<2xf32>
  %e = "stablehlo.scatter"(%y, %at, %more) ({
  ^bb0(%p: tensor<f64>, %q: tensor<f64>):
    %s = stablehlo.add %p, %q : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf64>
  %f = stablehlo.convert %y : (tensor<4xf32>) -> tensor<4xf64>
  return %a, %b, %c, %d, %e, %f : tensor<2xi32>, tensor<2x2xi32>, tensor<2xi32>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
}
