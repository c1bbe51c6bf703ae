// A program that runs itself beside itself filled the stack.
// RUN: not hlo-run %s
module {
  func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
    %r = "interpreter.run_parallel"(%a) {programs = [[@main]]} : (tensor<2xf32>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  }
}

// CHECK: interpreter.run_parallel inside a program that runs side by side with others
