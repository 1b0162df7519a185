; case: rocm-libraries PR 9407. An instruction whose effects no table tells, in
;       a loop: the barriers around it stay and are named, those of the loop
;       behind it go.
; kind: MISS
; expect: rewritten
; rewrite: --soft-barriers=never
; barriers: 3
; strict: 4
.isa tile64
.kernel "unknown-effects"
.queue q0 sp
.queue q1 act
.tensor n   dram i32 [1] at 0 input range 0 5 words 3
.tensor x   dram f32 [24, 8] at 4096 input
.tensor y   dram f32 [24, 8] at 8192 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor yt  sbuf f32 [4, 8] at 0:4, 64 scratch
.engine sp
    ld   r1, n
    mov  r2, 0
loopa:
    br.ge r2, r1, donea
    sync
    sync
    add  r2, r2, 1
    br   loopa
donea:
    mov  r3, 0
    mov  r2, 0
loopb:
    br.ge r2, r1, doneb
    sync
    dma  q0, xt[8*4], x+r3{4*32}[8*4] ^s1
    add  r3, r3, 4*32
    add  r2, r2, 1
    br   loopb
doneb:
    sync
    halt
.engine dve
    ld   r1, n
    mov  r2, 0
loopa:
    br.ge r2, r1, donea
    sync
    sync
    add  r2, r2, 1
    br   loopa
donea:
    mov  r3, 0
    mov  r2, 0
loopb:
    br.ge r2, r1, doneb
    sync
    ts   yt[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0 ?s1>=1 ^s2
    add  r2, r2, 1
    br   loopb
doneb:
    sync
    halt
.engine act
    ld   r1, n
    mov  r2, 0
loopa:
    br.ge r2, r1, donea
    sync
    sync
    add  r2, r2, 1
    br   loopa
donea:
    mov  r3, 0
    mov  r2, 0
loopb:
    br.ge r2, r1, doneb
    sync
    dma  q1, y+r3{4*32}[8*4], yt[8*4] ?s2>=1
    add  r3, r3, 4*32
    add  r2, r2, 1
    br   loopb
doneb:
    sync
    halt
.engine pool
    ld   r1, n
    mov  r2, 0
loopa:
    br.ge r2, r1, donea
    sync
    custom code=7
    sync
    add  r2, r2, 1
    br   loopa
donea:
    mov  r3, 0
    mov  r2, 0
loopb:
    br.ge r2, r1, doneb
    sync
    add  r2, r2, 1
    br   loopb
doneb:
    sync
    halt
