module {
  func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
    %r = "interpreter.run_parallel"(%a) {programs = [[@main]]} : (tensor<2xf32>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  }
}
