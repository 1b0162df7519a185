; case: tt-metal #13898. Without an exit barrier the kernel leaves counts and
;       work behind: refused, not repaired in silence.
; kind: LEFT
; expect: refused no exit barrier

.isa tile64
.kernel "no-exit-barrier"
.queue q0 sp
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor pt  sbuf f32 [4, 8] at 0:4, 32 scratch
.engine sp
    dma  q0, xt[8*4], x{4*32}[8*4]
    sync
    dma  q0, y{4*32}[8*4], pt[8*4] ?s1>=1
    halt
.engine dve
    sync
    ts   pt[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0 ^s1
    halt
