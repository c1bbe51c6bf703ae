" Vim syntax file: XLA's HLO text.
if exists('b:current_syntax')
  finish
endif
syn case match
syn keyword hloKeyword HloModule ENTRY ROOT FileNames FunctionNames FileLocations StackFrames
syn match hloType '\<\(pred\|opaque\|[suf]\d\+\|bf16\|c64\|c128\|f8e[0-9a-z]\+\|f4e2m1fn\)\ze\['
syn match hloType '\<token\>\ze[\[ ,)]'
syn match hloOpcode '\([\])}] \)\@<=[a-z][a-z0-9-]*\ze('
syn match hloAttribute '\<[A-Za-z_][A-Za-z0-9_-]*\ze='
syn match hloName '%[A-Za-z0-9_][A-Za-z0-9_.#-]*'
syn match hloNumber '\(\w\|[.%]\)\@<!-\=\d[0-9a-fA-Fx.]*\([eE][+-]\=\d\+\)\='
syn keyword hloConstant true false inf nan
syn region hloString start=+"+ skip=+\\.+ end=+"+ oneline
syn match hloComment '//.*$'
syn region hloComment start='/\*' end='\*/'
syn region hloComputation start='{$' end='^}' fold transparent
syn sync minlines=50
hi def link hloKeyword Keyword
hi def link hloType Type
hi def link hloOpcode Function
hi def link hloAttribute PreProc
hi def link hloName Identifier
hi def link hloNumber Number
hi def link hloConstant Constant
hi def link hloString String
hi def link hloComment Comment
let b:current_syntax = 'hlo'
