// What a module's own attributes say of aliases, layouts and frontend attributes goes into the header.
// RUN: hlo-opt %s
// RUN: hlo-run %s
module @m attributes {
    mhlo.input_output_alias = [{alias = {kind = "must_alias", parameter_index = array<i64>, parameter_number = 1 : i64}, output_index = array<i64: 1>}],
    mhlo.xla_entry_computation_parameter_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>],
    mhlo.xla_entry_computation_result_layout = [dense<[0, 1]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>],
    mhlo.frontend_attributes = {a = "b"}} {
  func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %0 = stablehlo.add %a, %b : tensor<2x3xf32>
    return %0, %b : tensor<2x3xf32>, tensor<2x3xf32>
  }
}
// CHECK: HloModule m, input_output_alias={ {1}: (1, {}, must-alias) }, entry_computation_layout={(f32[2,3]{0,1}, f32[2,3]{1,0})->(f32[2,3]{0,1}, f32[2,3]{1,0})}, frontend_attributes={a="b"}
