// RUN: not hlo-run --platform=interpreter %s
func.func @wrong() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %1 = interpreter.probe %0, probe_id = "a" : tensor<2xi64>
  %2 = stablehlo.constant dense<[1, 3]> : tensor<2xi64>
  check.expect_serialized_eq %2, probe_id = "a" : tensor<2xi64>
  func.return
}

// -----
func.func @unknown() {
  %0 = stablehlo.constant dense<1> : tensor<i64>
  check.expect_serialized_eq %0, probe_id = "a" : tensor<i64>
  func.return
}
// CHECK: errors_probes.mlir:13:3: error: check.expect_serialized_eq: there is no probe a before it
// CHECK: errors_probes.mlir:6:3: error: check.expect_eq does not hold
