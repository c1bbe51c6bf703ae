// A grid of processes and a probe, whose bytecode has properties too.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: s64[1] {4}
// EXPECT: (s64[2], s64[2]) ({4, 4}, {4, 4})
func.func @side(%x: tensor<1xi64>) -> tensor<2xi64> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<1xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
func.func @main(%x: tensor<1xi64>) -> (tensor<2xi64>, tensor<2xi64>) {
  %0:2 = "interpreter.run_parallel"(%x, %x) <{programs = [[@side], [@side]]}> : (tensor<1xi64>, tensor<1xi64>) -> (tensor<2xi64>, tensor<2xi64>)
  %1 = interpreter.probe %0#0, probe_id = "first" : tensor<2xi64>
  return %1, %0#1 : tensor<2xi64>, tensor<2xi64>
}
