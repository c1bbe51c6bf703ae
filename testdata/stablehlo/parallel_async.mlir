// Programs that run side by side and meet inside of asynchronous operations.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: s64[2] {1, 2}      INPUT: s64[2] {3, 4}
// EXPECT: (s64[4], s64[2]) ({1, 2, 3, 4}, {4, 6})
func.func @both(%x: tensor<2xi64>) -> (tensor<4xi64>, tensor<2xi64>) {
  %gather = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<2xi64>):
    %0 = "stablehlo.all_gather"(%y) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<4xi64>
    stablehlo.return %0 : tensor<4xi64>
  }) : (tensor<2xi64>) -> !stablehlo.future<tensor<4xi64>>
  %sum = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %1 = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %1 : tensor<i64>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
  %all = "stablehlo.async_done"(%gather) : (!stablehlo.future<tensor<4xi64>>) -> tensor<4xi64>
  return %all, %sum : tensor<4xi64>, tensor<2xi64>
}
func.func @main(%a: tensor<2xi64>, %b: tensor<2xi64>) -> (tensor<4xi64>, tensor<2xi64>) {
  %0:4 = "interpreter.run_parallel"(%a, %b) {programs = [[@both], [@both]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<4xi64>, tensor<2xi64>, tensor<4xi64>, tensor<2xi64>)
  return %0#2, %0#1 : tensor<4xi64>, tensor<2xi64>
}
