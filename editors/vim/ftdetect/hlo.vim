autocmd BufNewFile,BufRead *.hlo setfiletype hlo
autocmd BufNewFile,BufRead *.txt if getline(1) =~# '^HloModule\>' | setfiletype hlo | endif
