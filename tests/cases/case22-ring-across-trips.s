; case: rocm-libraries PR 8582, in a nest: the ring's index is not reset when
;       the inner loop is entered again, so the distance runs across trips.
; kind: MISS
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "ring-across-trips"
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 4 words 3
.tensor m   dram i32 [1] at 64 input range 0 4 words 2
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor ct  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor rt  sbuf f32 [4, 24] at 0:4, 64 scratch
.engine sp
    ld   r1, n
    dma  q0, xt[8*4], x{4*32}[8*4]
    sync
    mov  r2, 0
loop1:
    br.ge r2, r1, done1
    sync
    ld   r4, m
    mov  r5, 0
loop2:
    br.ge r5, r4, done2
    sync
    add  r5, r5, 1
    br   loop2
done2:
    add  r2, r2, 1
    br   loop1
done1:
    sync
    dma  q0, y{4*32}[8*4], ct[8*4]
    sync
    halt
.engine dve
    ld   r1, n
    mov  r6, 0
    memset rt[24*4] value=0
    sync
    mov  r2, 0
loop1:
    br.ge r2, r1, done1
    sync
    ld   r4, m
    mov  r5, 0
loop2:
    br.ge r5, r4, done2
    sync
    mov  r7, r6
    rem  r7, r7, 3
    mul  r7, r7, 32
    add  r6, r6, 1
    ts   rt+r7[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0
    add  r5, r5, 1
    br   loop2
done2:
    add  r2, r2, 1
    br   loop1
done1:
    sync
    sync
    halt
.engine act
    ld   r1, n
    mov  r6, 0
    memset ct[8*4] value=0
    sync
    mov  r2, 0
loop1:
    br.ge r2, r1, done1
    sync
    ld   r4, m
    mov  r5, 0
loop2:
    br.ge r5, r4, done2
    sync
    add  r7, r6, 1
    rem  r7, r7, 3
    mul  r7, r7, 32
    add  r6, r6, 1
    act  ct[8*4], rt+r7[8*4] func=square scale=1.0 bias=0.0
    add  r5, r5, 1
    br   loop2
done2:
    add  r2, r2, 1
    br   loop1
done1:
    sync
    sync
    halt
