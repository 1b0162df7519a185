; case: PTOAS #706. One operation that hides what it does, and counts with a
;       semaphore of its own: it stays, byte for byte, between its barriers, and
;       nothing else counts with that semaphore.
; kind: MISS
; expect: rewritten
; rewrite: --soft-barriers=never
; barriers: 3
; strict: 4
; untouched: s0
.isa tile64
.kernel "opaque-operation"
.queue q0 sp
.queue q1 act
.tensor n   dram i32 [1] at 0 input range 0 5 words 3
.tensor x   dram f32 [24, 8] at 4096 input
.tensor y   dram f32 [24, 8] at 8192 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor yt  sbuf f32 [4, 8] at 0:4, 64 scratch
.engine sp
    ld   r1, n
    sync
    sync
    mov  r3, 0
    mov  r2, 0
loopa:
    br.ge r2, r1, donea
    sync
    dma  q0, xt[8*4], x+r3{4*32}[8*4] ^s1
    add  r3, r3, 4*32
    add  r2, r2, 1
    br   loopa
donea:
    sync
    halt
.engine dve
    ld   r1, n
    sync
    sync
    mov  r3, 0
    mov  r2, 0
loopa:
    br.ge r2, r1, donea
    sync
    ts   yt[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0 ?s1>=1 ^s2
    add  r2, r2, 1
    br   loopa
donea:
    sync
    halt
.engine act
    ld   r1, n
    sync
    act  yt[8*4], xt[8*4] func=square scale=1.0 bias=0.0 ?s0>=1
    sync
    mov  r3, 0
    mov  r2, 0
loopa:
    br.ge r2, r1, donea
    sync
    dma  q1, y+r3{4*32}[8*4], yt[8*4] ?s2>=1
    add  r3, r3, 4*32
    add  r2, r2, 1
    br   loopa
donea:
    sync
    halt
.engine pool
    ld   r1, n
    sync
    custom code=7 ^s0
    sync
    mov  r3, 0
    mov  r2, 0
loopa:
    br.ge r2, r1, donea
    sync
    add  r2, r2, 1
    br   loopa
donea:
    sync
    halt
