;;; hlo-mode.el --- XLA's HLO text -*- lexical-binding: t -*-
;;; Code:
(defvar hlo-mode-font-lock-keywords
  '(("\\_<\\(HloModule\\|ENTRY\\|ROOT\\|FileNames\\|FunctionNames\\|FileLocations\\|StackFrames\\)\\_>" . font-lock-keyword-face)
    ("\\_<\\(pred\\|token\\|opaque\\|[suf][0-9]+\\|bf16\\|c64\\|c128\\|f8e[0-9a-z]+\\)\\[" 1 font-lock-type-face)
    ("[])}] \\([a-z][a-z0-9-]*\\)(" 1 font-lock-function-name-face)
    ("\\_<\\([A-Za-z_][A-Za-z0-9_-]*\\)=" 1 font-lock-builtin-face)
    ("%[A-Za-z0-9_][A-Za-z0-9_.#-]*" . font-lock-variable-name-face)))

(define-derived-mode hlo-mode prog-mode "HLO"
  "Major mode for HLO text."
  (setq-local comment-start "//")
  (modify-syntax-entry ?/ ". 124b")
  (modify-syntax-entry ?* ". 23")
  (modify-syntax-entry ?\n "> b")
  (setq-local font-lock-defaults '(hlo-mode-font-lock-keywords)))

(add-to-list 'auto-mode-alist '("\\.hlo\\'" . hlo-mode))
(add-to-list 'magic-mode-alist '("HloModule " . hlo-mode))
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(hlo-mode . ("hlo-lsp"))))
(provide 'hlo-mode)
;;; hlo-mode.el ends here
