-- neovim 0.11: vim.lsp.enable('hlo')
return { cmd = { 'hlo-lsp' }, filetypes = { 'hlo' }, root_markers = { '.git' } }
