// Sizes that types leave open and constants, sizes of dimensions and arithmetic say.
// RUN: hlo-run --platform=interpreter %s
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xi64>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %six = stablehlo.multiply %n, %two : tensor<i32>
  %one = stablehlo.reshape %six : (tensor<i32>) -> tensor<1xi32>
  %flat = stablehlo.dynamic_reshape %x, %one : (tensor<2x3xi64>, tensor<1xi32>) -> tensor<?xi64>
  %sum = stablehlo.add %flat, %flat : tensor<?xi64>
  %fixed = stablehlo.reshape %sum : (tensor<?xi64>) -> tensor<6xi64>
  check.expect_eq_const %fixed, dense<[2, 4, 6, 8, 10, 12]> : tensor<6xi64>
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %all = stablehlo.reduce(%sum init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xi64>, tensor<i64>) -> tensor<i64>
  check.expect_eq_const %all, dense<42> : tensor<i64>
  %both = stablehlo.concatenate %sum, %sum, dim = 0 : (tensor<?xi64>, tensor<?xi64>) -> tensor<?xi64>
  %size = stablehlo.get_dimension_size %both, dim = 0 : (tensor<?xi64>) -> tensor<i32>
  check.expect_eq_const %size, dense<12> : tensor<i32>
  %half = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %square = stablehlo.dynamic_reshape %sum, %half : (tensor<?xi64>, tensor<2xi64>) -> tensor<?x?xi64>
  %turned = stablehlo.transpose %square, dims = [1, 0] : (tensor<?x?xi64>) -> tensor<?x?xi64>
  %dot = stablehlo.dot_general %turned, %square, contracting_dims = [1] x [0] : (tensor<?x?xi64>, tensor<?x?xi64>) -> tensor<?x?xi64>
  %known = stablehlo.convert %dot : (tensor<?x?xi64>) -> tensor<2x2xi64>
  check.expect_eq_const %known, dense<[[140, 176], [176, 224]]> : tensor<2x2xi64>
  %spread = stablehlo.dynamic_broadcast_in_dim %n, %half, dims = [] : (tensor<i32>, tensor<2xi64>) -> tensor<?x?xi32>
  %small = stablehlo.compare LT, %spread, %spread : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi1>
  %chosen = stablehlo.select %small, %spread, %spread : tensor<?x?xi1>, tensor<?x?xi32>
  %is = stablehlo.reshape %chosen : (tensor<?x?xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %is, dense<3> : tensor<3x2xi32>
  %count = stablehlo.dynamic_iota %half, dim = 0 : (tensor<2xi64>) -> tensor<?x?xi64>
  %low = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
  %none = stablehlo.constant dense<0> : tensor<2xi64>
  %padded = stablehlo.dynamic_pad %count, %zero, %low, %none, %none : (tensor<?x?xi64>, tensor<i64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xi64>
  %limit = stablehlo.constant dense<[3, 3]> : tensor<2xi64>
  %step = stablehlo.constant dense<[2, 1]> : tensor<2xi64>
  %cut = stablehlo.real_dynamic_slice %padded, %none, %limit, %step : (tensor<?x?xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xi64>
  %cut23 = stablehlo.reshape %cut : (tensor<?x?xi64>) -> tensor<2x3xi64>
  check.expect_eq_const %cut23, dense<[[0, 0, 0], [0, 2, 2]]> : tensor<2x3xi64>
  %rows = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi64>
  %whole = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %taken = "stablehlo.dynamic_gather"(%square, %rows, %whole) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>} : (tensor<?x?xi64>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<?x?xi64>
  %taken22 = stablehlo.reshape %taken : (tensor<?x?xi64>) -> tensor<2x2xi64>
  check.expect_eq_const %taken22, dense<[[10, 12], [2, 4]]> : tensor<2x2xi64>
  func.return
}
// CHECK: 1 run
