; case: llvm PR 220356. The body is a barrier, a read and a write of one
;       buffer, on one engine: the order is carried through the back edge.
; kind: MISS
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "read-then-write"
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 5 words 3
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor ut  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor bt  sbuf f32 [4, 8] at 0:4, 64 scratch
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
    dma  q0, y{4*32}[8*4], xt[8*4]
    sync
    halt
.engine dve
    ld   r1, n
    memset bt[8*4] value=0
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    ts   ut[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0 ^s1
    tt   xt[8*4], ut[8*4], bt[8*4] op=add ?s1>=1
    add  r2, r2, 1
    br   loop
done:
    sync
    sync
    halt
