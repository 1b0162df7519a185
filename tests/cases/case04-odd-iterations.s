; case: PTOAS #1149. A load in a conditional that odd iterations enter, its
;       consumer outside: no update may leave the conditional, and the wait
;       must pass when nothing is owed.
; kind: HANG
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "odd-iterations"
.queue q0 sp
.queue q1 sp
.tensor n   dram i32 [1] at 0 input range 0 6 words 5
.tensor x   dram f32 [24, 8] at 4096 input
.tensor y   dram f32 [24, 8] at 4864 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor yt  sbuf f32 [4, 8] at 0:4, 32 scratch
.engine sp
    ld   r1, n
    dma  q0, xt[8*4], x{4*32}[8*4]
    mov  r3, 0
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    and  r4, r2, 1
    br.eq r4, 0, even
    dma  q0, xt[8*4], x+r3{4*32}[8*4]
even:
    sync
    dma  q1, y+r3{4*32}[8*4], yt[8*4] ?s1>=1
    add  r3, r3, 4*32
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
    sync
    ts   yt[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0 ^s1
    add  r2, r2, 1
    br   loop
done:
    sync
    halt
