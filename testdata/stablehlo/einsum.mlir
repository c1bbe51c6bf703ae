// Operations of StableHLO's first years, as dots, sums, gathers.
// RUN: hlo-run --platform=interpreter %s
func.func @main() {
  %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %b = stablehlo.constant dense<[[1, 0], [0, 1], [1, 1]]> : tensor<3x2xi64>
  %0 = "stablehlo.einsum"(%a, %b) {einsum_config = "ij,jk->ik"} : (tensor<2x3xi64>, tensor<3x2xi64>) -> tensor<2x2xi64>
  check.expect_eq_const %0, dense<[[4, 5], [10, 11]]> : tensor<2x2xi64>
  %1 = "stablehlo.einsum"(%a, %b) {einsum_config = "ij,jk->k"} : (tensor<2x3xi64>, tensor<3x2xi64>) -> tensor<2xi64>
  check.expect_eq_const %1, dense<[14, 16]> : tensor<2xi64>
  %2 = "stablehlo.einsum"(%a, %b) {einsum_config = "ij,ji->ji"} : (tensor<2x3xi64>, tensor<3x2xi64>) -> tensor<3x2xi64>
  check.expect_eq_const %2, dense<[[1, 0], [0, 5], [3, 6]]> : tensor<3x2xi64>
  %3 = "stablehlo.einsum"(%a, %a) {einsum_config = "...a,...b->...ba"} : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3x3xi64>
  %4 = stablehlo.slice %3 [1:2, 0:1, 0:3] : (tensor<2x3x3xi64>) -> tensor<1x1x3xi64>
  check.expect_eq_const %4, dense<[[[16, 20, 24]]]> : tensor<1x1x3xi64>
  %5 = "stablehlo.unary_einsum"(%a) {einsum_config = "ij->j"} : (tensor<2x3xi64>) -> tensor<3xi64>
  check.expect_eq_const %5, dense<[5, 7, 9]> : tensor<3xi64>
  %6 = "stablehlo.unary_einsum"(%a) {einsum_config = "ij->ji"} : (tensor<2x3xi64>) -> tensor<3x2xi64>
  check.expect_eq_const %6, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi64>
  %i = stablehlo.constant dense<[[0, 2], [1, 1]]> : tensor<2x2xi32>
  %7 = "stablehlo.torch_index_select"(%a, %i) {dim = 1 : i64, batch_dims = 0 : i64} : (tensor<2x3xi64>, tensor<2x2xi32>) -> tensor<2x2x2xi64>
  check.expect_eq_const %7, dense<[[[1, 3], [2, 2]], [[4, 6], [5, 5]]]> : tensor<2x2x2xi64>
  %8 = "stablehlo.torch_index_select"(%a, %i) {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x3xi64>, tensor<2x2xi32>) -> tensor<2x2xi64>
  check.expect_eq_const %8, dense<[[1, 3], [5, 5]]> : tensor<2x2xi64>
  %9 = "stablehlo.cross-replica-sum"(%a) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<2x3xi64>) -> tensor<2x3xi64>
  check.expect_eq %9, %a : tensor<2x3xi64>
  %10 = "stablehlo.async_start"(%a) ({
    ^bb0(%x: tensor<2x3xi64>):
      %r = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<2x3xi64>) -> tensor<2x3xi64>
      stablehlo.return %r : tensor<2x3xi64>
  }) : (tensor<2x3xi64>) -> !stablehlo.future<tensor<2x3xi64>>
  %11 = "stablehlo.async_done"(%10) : (!stablehlo.future<tensor<2x3xi64>>) -> tensor<2x3xi64>
  check.expect_eq %11, %a : tensor<2x3xi64>
  %12 = stablehlo.dot %a, %b, precision = [DEFAULT, DEFAULT] : (tensor<2x3xi64>, tensor<3x2xi64>) -> tensor<2x2xi64>
  check.expect_eq %12, %0 : tensor<2x2xi64>
  func.return
}
// CHECK: 1 run
