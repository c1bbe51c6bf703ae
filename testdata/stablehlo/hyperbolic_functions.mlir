// asin, acos, asinh, acosh, sinh, cosh, erfc and erf_inv of real numbers near 0 and 1 and far out; acosh(1.5e308) has a double that
// overflows. Values from mpmath; erf_inv is XLA's formula, which loses two digits near 1.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f64[4] {0.3, 0.9999, 0.0001, -0.5}      EXPECT: f64[4] {0.3, 0.9999, 0.0001, -0.5}
module {
  func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> {
    %0 = chlo.asin %x : tensor<4xf64> -> tensor<4xf64>
    %e0 = stablehlo.constant dense<[0.3046926540153975, 1.5566540733173845, 0.00010000000016666667, -0.52359877559829887]> : tensor<4xf64>
    check.expect_close %0, %e0, max_ulp_difference = 3 : tensor<4xf64>, tensor<4xf64>
    %1 = chlo.acos %x : tensor<4xf64> -> tensor<4xf64>
    %e1 = stablehlo.constant dense<[1.2661036727794991, 0.014142253477512099, 1.57069632679473, 2.0943951023931955]> : tensor<4xf64>
    check.expect_close %1, %e1, max_ulp_difference = 3 : tensor<4xf64>, tensor<4xf64>
    %2 = chlo.asinh %x : tensor<4xf64> -> tensor<4xf64>
    %e2 = stablehlo.constant dense<[0.29567304756342243, 0.88130287457362796, 9.9999999833333339e-5, -0.48121182505960345]> : tensor<4xf64>
    check.expect_close %2, %e2, max_ulp_difference = 3 : tensor<4xf64>, tensor<4xf64>
    %3 = chlo.cosh %x : tensor<4xf64> -> tensor<4xf64>
    %e3 = stablehlo.constant dense<[1.0453385141288605, 1.5429631224110867, 1.000000005, 1.1276259652063808]> : tensor<4xf64>
    check.expect_close %3, %e3, max_ulp_difference = 3 : tensor<4xf64>, tensor<4xf64>
    %4 = chlo.sinh %x : tensor<4xf64> -> tensor<4xf64>
    %e4 = stablehlo.constant dense<[0.30452029344714261, 1.1750468914560687, 0.00010000000016666667, -0.52109530549374736]> : tensor<4xf64>
    check.expect_close %4, %e4, max_ulp_difference = 3 : tensor<4xf64>, tensor<4xf64>
    %5 = chlo.erfc %x : tensor<4xf64> -> tensor<4xf64>
    %e5 = stablehlo.constant dense<[0.67137324054087258, 0.15734072195124052, 0.99988716208366658, 1.5204998778130465]> : tensor<4xf64>
    check.expect_close %5, %e5, max_ulp_difference = 4 : tensor<4xf64>, tensor<4xf64>
    %6 = chlo.erf_inv %x : tensor<4xf64> -> tensor<4xf64>
    check.expect_almost_eq_const %6, dense<[0.27246271472675435, 2.7510639057120797, 8.8622692777289473e-5, -0.47693627620446987]> : tensor<4xf64>, tolerance = 1.0e-13
    %y = stablehlo.constant dense<[1.0001, 2.0, 50.0, 1.5e308]> : tensor<4xf64>
    %7 = chlo.acosh %y : tensor<4xf64> -> tensor<4xf64>
    %e7 = stablehlo.constant dense<[0.014142017775251545, 1.3169578969248167, 4.6050701709847572, 710.29482093083418]> : tensor<4xf64>
    check.expect_close %7, %e7, max_ulp_difference = 3 : tensor<4xf64>, tensor<4xf64>
    %w = stablehlo.constant dense<[0.5, -3.0, 5.0, 26.0]> : tensor<4xf64>
    %8 = chlo.erfc %w : tensor<4xf64> -> tensor<4xf64>
    %e8 = stablehlo.constant dense<[0.47950012218695346, 1.9999779095030014, 1.5374597944280349e-12, 5.6631924088561428e-296]> : tensor<4xf64>
    check.expect_close %8, %e8, max_ulp_difference = 4 : tensor<4xf64>, tensor<4xf64>
    %narrow = stablehlo.convert %x : (tensor<4xf64>) -> tensor<4xbf16>
    %9 = chlo.sinh %narrow : tensor<4xbf16> -> tensor<4xbf16>
    %e9 = stablehlo.constant dense<[0.304688, 1.17188, 0.000099659, -0.519531]> : tensor<4xbf16>
    check.expect_close %9, %e9, max_ulp_difference = 1 : tensor<4xbf16>, tensor<4xbf16>
    return %x : tensor<4xf64>
  }
}
