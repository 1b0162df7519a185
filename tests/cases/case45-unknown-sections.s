; case: llvm-project #109723. Debug sections, notes and empty sections that
;       nobody here reads: copied as they are, never a veto.
; kind: ENC
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "unknown-sections"
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 5 words 3
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor pt  sbuf f32 [4, 8] at 0:4, 32 scratch
.engine sp
    ld   r1, n
    dma  q0, xt[8*4], x{4*32}[8*4]
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    add  r2, r2, 1
    br   loop
done:
    sync
    dma  q0, y{4*32}[8*4], pt[8*4]
    sync
    halt
.engine dve
    ld   r1, n
    memset pt[8*4] value=0
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    tt   pt[8*4], pt[8*4], xt[8*4] op=add
    add  r2, r2, 1
    br   loop
done:
    sync
    sync
    halt
.section ".debug_line" type=1 align=1
    .bytes "AAECAwQFBgcICQ=="
.section ".debug_empty" type=1 align=8
.section ".zdebug_info" type=1 flags=0x800 align=8
    .bytes "AQAAAAAAAAAQAAAAAAAAAAEAAAAAAAAAeJwDAAAAAAE="
.section ".note.other" type=7 align=4
    .bytes "BAAAAAQAAAABAAAAYWJjAAECAwQ="
.section ".bss.other" type=8 align=4 size=4096
