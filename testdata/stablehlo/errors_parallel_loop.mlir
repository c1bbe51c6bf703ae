// A collective inside of a loop of programs that run side by side, in a function that the loop calls.
// RUN: not hlo-opt %s
func.func @sum(%x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %1 = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %1 : tensor<i64>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
func.func @loop(%x: tensor<2xi64>, %p: tensor<i1>) -> tensor<2xi64> {
  %0:2 = stablehlo.while(%v = %x, %q = %p) : tensor<2xi64>, tensor<i1>
  cond {
    stablehlo.return %q : tensor<i1>
  } do {
    %1 = func.call @sum(%v) : (tensor<2xi64>) -> tensor<2xi64>
    %2 = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %1, %2 : tensor<2xi64>, tensor<i1>
  }
  return %0#0 : tensor<2xi64>
}
func.func @main(%a: tensor<2xi64>, %p: tensor<i1>) -> tensor<2xi64> {
  %0:2 = "interpreter.run_parallel"(%a, %p, %a, %p) {programs = [[@loop], [@loop]]} : (tensor<2xi64>, tensor<i1>, tensor<2xi64>, tensor<i1>) -> (tensor<2xi64>, tensor<2xi64>)
  return %0#0 : tensor<2xi64>
}
// CHECK: errors_parallel_loop.mlir:4:8: error: stablehlo.all_reduce inside of stablehlo.while, where programs run side by side, has no equal in HLO
