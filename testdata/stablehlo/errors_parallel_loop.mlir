// What acts beside giving results, in a loop that programs which run side by side go through in step.
// RUN: not hlo-opt %s
func.func @loop(%x: tensor<2xi64>, %p: tensor<i1>) -> tensor<2xi64> {
  %0:2 = stablehlo.while(%v = %x, %q = %p) : tensor<2xi64>, tensor<i1>
  cond {
    stablehlo.return %q : tensor<i1>
  } do {
    %1 = "stablehlo.collective_permute"(%v) {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
    check.expect_eq %1, %x : tensor<2xi64>
    %2 = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %1, %2 : tensor<2xi64>, tensor<i1>
  }
  return %0#0 : tensor<2xi64>
}
func.func @main(%a: tensor<2xi64>, %p: tensor<i1>) -> tensor<2xi64> {
  %0:2 = "interpreter.run_parallel"(%a, %p, %a, %p) {programs = [[@loop], [@loop]]} : (tensor<2xi64>, tensor<i1>, tensor<2xi64>, tensor<i1>) -> (tensor<2xi64>, tensor<2xi64>)
  return %0#0 : tensor<2xi64>
}
// CHECK: errors_parallel_loop.mlir:9:5: error: check.expect_eq in a loop or branch in which programs that run side by side meet has no equal in HLO
