// A process that waits for one which never comes.
// RUN: not hlo-opt %s
module @parallel {
  func.func @gather(%x: tensor<2xi64>) -> tensor<4xi64> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<4xi64>
    return %0 : tensor<4xi64>
  }
  func.func @nothing() {
    return
  }
  func.func @main(%a: tensor<2xi64>) -> tensor<4xi64> {
    %0 = "interpreter.run_parallel"(%a) {programs = [[@gather], [@nothing]]} : (tensor<2xi64>) -> tensor<4xi64>
    return %0 : tensor<4xi64>
  }
}
// CHECK: error: stablehlo.all_gather: not all of its participants reach it
