; case: PTOAS #1519. Iteration i loads slot (i+1) mod 2, slot 0 having been
;       loaded before the loop, and reads slot i mod 2: every trip count, odd
;       or even.
; kind: MISS HANG
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "two-slot-prefetch"
.queue q0 sp
.queue q1 sp
.tensor n   dram i32 [1] at 0 input range 0 6 words 5
.tensor x   dram f32 [32, 8] at 4096 input
.tensor y   dram f32 [32, 8] at 5120 output
.tensor xt  sbuf f32 [4, 16] at 0:4, 0 scratch
.tensor yt  sbuf f32 [4, 8] at 0:4, 64 scratch
.engine sp
    ld   r1, n
    dma  q0, xt[8*4], x{4*32}[8*4]
    mov  r3, 0
    mov  r6, 4*32
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    add  r4, r2, 1
    rem  r4, r4, 2
    mul  r4, r4, 32
    dma  q0, xt+r4[8*4], x+r6{4*32}[8*4]
    dma  q1, y+r3{4*32}[8*4], yt[8*4] ?s1>=1
    add  r3, r3, 4*32
    add  r6, r6, 4*32
    add  r2, r2, 1
    br   loop
done:
    sync
    halt
.engine dve
    ld   r1, n
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    mov  r4, r2
    rem  r4, r4, 2
    mul  r4, r4, 32
    ts   yt[8*4], xt+r4[8*4] op0=mul imm0=2.0 op1=none imm1=0 ^s1
    add  r2, r2, 1
    br   loop
done:
    sync
    halt
