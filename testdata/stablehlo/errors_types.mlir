// Functions of types that HLO has not are refused one by one; the others run.
// RUN: not hlo-run --platform=interpreter %s
func.func @six_bits(%x: tensor<2xf6E2M3FN>) -> tensor<2xf6E2M3FN> { return %x : tensor<2xf6E2M3FN> }
func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> { return %x : tensor<*xf32> }
func.func @fine() { return }
// CHECK: errors_types.mlir:3:1: error: argument 0 of six_bits: the type tensor<2xf6E2M3FN> has no equal in HLO
// CHECK: errors_types.mlir:4:1: error: argument 0 of unranked: the type tensor<*xf32> has no equal in HLO
