// RUN: not hlo-opt %s
func.func @a() { return }
func.func @b() { return }
// CHECK: error: this file has 2 programs (a, b); hlo-run runs all, here it has to be one
