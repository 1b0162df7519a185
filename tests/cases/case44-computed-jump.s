; case: e9patch #77. A computed jump whose targets nobody lists: the file is
;       refused.
; kind: ENC
; expect: refused computed branch

.isa tile64
.kernel "computed-jump"
.queue q0 sp
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor pt  sbuf f32 [4, 8] at 0:4, 32 scratch
.engine sp
    dma  q0, xt[8*4], x{4*32}[8*4]
    sync
    dma  q0, y{4*32}[8*4], pt[8*4] ?s1>=1
    sync
    halt
.engine dve
    mov  r1, 2
    jump r1
    sync
    ts   pt[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0 ^s1
    sync
    halt
