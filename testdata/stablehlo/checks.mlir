// Checks that hold: as operations and as calls, with constants, tolerances and steps.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f64[2] {5, -0.5}
// EXPECT: f64[2] {5, -0.5}
func.func @checked(%x: tensor<2xf64>) -> tensor<2xf64> {
  %near = stablehlo.constant dense<[5.00009, -0.50009]> : tensor<2xf64>
  %wide = stablehlo.constant dense<[5.0009, -0.5009]> : tensor<2xf64>
  %half = stablehlo.constant dense<[5.010, -0.5]> : tensor<2xf16>
  %y = stablehlo.convert %x : (tensor<2xf64>) -> tensor<2xf16>
  check.expect_eq %x, %x : tensor<2xf64>
  check.eq %x, dense<[5.0, -0.5]> : tensor<2xf64>
  check.almost_eq %x, dense<[5.00001, -0.5]> : tensor<2xf64>
  check.expect_eq_const %x, dense<[5.0, -0.5]> : tensor<2xf64>
  check.expect_almost_eq %x, %near : tensor<2xf64>
  check.expect_almost_eq %x, %wide, tolerance = 0.1 : tensor<2xf64>
  check.expect_almost_eq_const %x, dense<[5.00009, -0.5]> : tensor<2xf64>
  check.expect_almost_eq_const %x, dense<[5.01, -0.5]> : tensor<2xf64>, tolerance = 1.0e-1
  check.expect_almost_eq_const %x, dense<[5.01, -0.5]> : tensor<2xf64> {tolerance = 0.1 : f64}
  check.expect_close %y, %half, max_ulp_difference = 3 : tensor<2xf16>, tensor<2xf16>
  "check.expect_close"(%y, %half) {max_ulp_difference = 3 : ui64} : (tensor<2xf16>, tensor<2xf16>) -> ()
  stablehlo.custom_call @check.expect_close(%y, %half) {has_side_effect = true} : (tensor<2xf16>, tensor<2xf16>) -> ()
  stablehlo.custom_call @check.expect_almost_eq(%x, %wide) {has_side_effect = true} : (tensor<2xf64>, tensor<2xf64>) -> ()
  return %x : tensor<2xf64>
}
