// Programs that run side by side and meet at collectives, with the values that the specification gives them.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: s64[2,2] {{1, 2}, {3, 4}}      INPUT: s64[2,2] {{5, 6}, {7, 8}}
// EXPECT: (s64[2,4], s64[4,1]) ({{1, 2, 5, 6}, {3, 4, 7, 8}}, {{2}, {4}, {6}, {8}})
module @parallel {
  func.func @all_gather(%x: tensor<2x2xi64>) -> tensor<2x4xi64> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x2xi64>) -> tensor<2x4xi64>
    return %0 : tensor<2x4xi64>
  }
  func.func @all_gather_of_all(%x: tensor<2x2xi64>) -> tensor<2x8xi64> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<2x2xi64>) -> tensor<2x8xi64>
    return %0 : tensor<2x8xi64>
  }
  func.func @all_to_all(%x: tensor<2x2xi64>) -> tensor<4x1xi64> {
    %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<2x2xi64>) -> tensor<4x1xi64>
    return %0 : tensor<4x1xi64>
  }
  func.func @sum(%x: tensor<2x2xi64>) -> tensor<2x2xi64> {
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %1 = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %1 : tensor<i64>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : (tensor<2x2xi64>) -> tensor<2x2xi64>
    return %0 : tensor<2x2xi64>
  }
  func.func @scattered_sum_of_sums(%x: tensor<2x2xi64>) -> tensor<2x1xi64> {
    %0 = func.call @sum(%x) : (tensor<2x2xi64>) -> tensor<2x2xi64>
    %1 = "stablehlo.reduce_scatter"(%0) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %2 = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %2 : tensor<i64>
    }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x2xi64>) -> tensor<2x1xi64>
    return %1 : tensor<2x1xi64>
  }
  func.func @collective_reduce(%x: tensor<2x2xi64>) -> tensor<2x2xi64> {
    %0 = "stablehlo.collective_reduce"(%x) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %1 = stablehlo.maximum %a, %b : tensor<i64>
      stablehlo.return %1 : tensor<i64>
    }) {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2x2xi64>) -> tensor<2x2xi64>
    return %0 : tensor<2x2xi64>
  }
  func.func @permute(%x: tensor<2x2xi64>) -> tensor<2x2xi64> {
    %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<2x2xi64>) -> tensor<2x2xi64>
    return %0 : tensor<2x2xi64>
  }
  func.func @broadcast(%x: tensor<2x2xi64>) -> tensor<2x2xi64> {
    %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>} : (tensor<2x2xi64>) -> tensor<2x2xi64>
    return %0 : tensor<2x2xi64>
  }
  func.func @broadcast_from(%x: tensor<2x2xi64>, %root: tensor<1xi32>) -> tensor<2x2xi64> {
    %0 = "stablehlo.collective_broadcast"(%x, %root) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<2x2xi64>, tensor<1xi32>) -> tensor<2x2xi64>
    return %0 : tensor<2x2xi64>
  }
  func.func @ids() -> (tensor<ui32>, tensor<ui32>) {
    %0 = stablehlo.replica_id : tensor<ui32>
    %1 = stablehlo.partition_id : tensor<ui32>
    return %0, %1 : tensor<ui32>, tensor<ui32>
  }
  func.func @send(%x: tensor<2x2xi64>, %token: !stablehlo.token) -> !stablehlo.token {
    %0 = "stablehlo.send"(%x, %token) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true} : (tensor<2x2xi64>, !stablehlo.token) -> !stablehlo.token
    return %0 : !stablehlo.token
  }
  func.func @recv(%token: !stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token) {
    %0, %1 = "stablehlo.recv"(%token) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token)
    return %0, %1 : tensor<2x2xi64>, !stablehlo.token
  }
  func.func @fed(%token: !stablehlo.token) -> (tensor<i64>, !stablehlo.token, tensor<i64>, !stablehlo.token) {
    %0:2 = "stablehlo.infeed"(%token) : (!stablehlo.token) -> (tensor<i64>, !stablehlo.token)
    %1:2 = "stablehlo.infeed"(%token) : (!stablehlo.token) -> (tensor<i64>, !stablehlo.token)
    return %0#0, %0#1, %1#0, %1#1 : tensor<i64>, !stablehlo.token, tensor<i64>, !stablehlo.token
  }
  func.func @infeed_first() -> tensor<i64> {
    %0 = stablehlo.constant dense<7> : tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @infeed_second() -> tensor<i64> {
    %0 = stablehlo.constant dense<9> : tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @main(%a: tensor<2x2xi64>, %b: tensor<2x2xi64>) -> (tensor<2x4xi64>, tensor<4x1xi64>) {
    %token = stablehlo.after_all : !stablehlo.token
    %root = stablehlo.constant dense<1> : tensor<1xi32>
    %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@all_gather], [@all_gather]]} : (tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<2x4xi64>, tensor<2x4xi64>)
    %1:4 = "interpreter.run_parallel"(%b, %b, %a, %b) {programs = [[@all_gather_of_all, @all_gather_of_all], [@all_gather_of_all, @all_gather_of_all]]} : (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<2x8xi64>, tensor<2x8xi64>, tensor<2x8xi64>, tensor<2x8xi64>)
    check.expect_eq_const %1#0, dense<[[5, 6, 5, 6, 1, 2, 5, 6], [7, 8, 7, 8, 3, 4, 7, 8]]> : tensor<2x8xi64>
    %2:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@all_to_all, @all_to_all]]} : (tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<4x1xi64>, tensor<4x1xi64>)
    %3:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@scattered_sum_of_sums], [@scattered_sum_of_sums]]} : (tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<2x1xi64>, tensor<2x1xi64>)
    check.expect_eq_const %3#1, dense<[[16], [24]]> : tensor<2x1xi64>
    %4:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@collective_reduce], [@collective_reduce]]} : (tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<2x2xi64>, tensor<2x2xi64>)
    check.expect_eq_const %4#0, dense<0> : tensor<2x2xi64>
    check.expect_eq_const %4#1, dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
    %5:3 = "interpreter.run_parallel"(%a, %b, %a) {programs = [[@permute], [@permute], [@permute]]} : (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>)
    check.expect_eq_const %5#0, dense<0> : tensor<2x2xi64>
    check.expect_eq_const %5#2, dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
    %6:4 = "interpreter.run_parallel"(%a, %a, %b, %a) {programs = [[@broadcast], [@broadcast], [@broadcast], [@broadcast]]} : (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>)
    check.expect_eq_const %6#1, dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
    check.expect_eq_const %6#3, dense<0> : tensor<2x2xi64>
    %7:2 = "interpreter.run_parallel"(%a, %root, %b, %root) {programs = [[@broadcast_from], [@broadcast_from]]} : (tensor<2x2xi64>, tensor<1xi32>, tensor<2x2xi64>, tensor<1xi32>) -> (tensor<2x2xi64>, tensor<2x2xi64>)
    check.expect_eq_const %7#0, dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
    %8:4 = "interpreter.run_parallel"() {programs = [[@ids, @ids]]} : () -> (tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>)
    check.expect_eq_const %8#2, dense<0> : tensor<ui32>
    check.expect_eq_const %8#3, dense<1> : tensor<ui32>
    %9:3 = "interpreter.run_parallel"(%token, %b, %token) {programs = [[@recv], [@send]]} : (!stablehlo.token, tensor<2x2xi64>, !stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token, !stablehlo.token)
    check.expect_eq_const %9#0, dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
    %10:4 = "interpreter.run_parallel"(%token) {infeed = [@infeed_first, @infeed_second], programs = [[@fed]]} : (!stablehlo.token) -> (tensor<i64>, !stablehlo.token, tensor<i64>, !stablehlo.token)
    check.expect_eq_const %10#2, dense<9> : tensor<i64>
    return %0#1, %2#1 : tensor<2x4xi64>, tensor<4x1xi64>
  }
}
