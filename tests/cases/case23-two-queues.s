; case: rocm-libraries PR 10929. Two queues fill one buffer, either may finish
;       first: a count that both share names neither.
; kind: MISS
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "two-queues"
.queue q0 sp
.queue q1 sp
.queue q2 act
.tensor n   dram i32 [1] at 0 input range 0 5 words 3
.tensor x   dram f32 [24, 8] at 4096 input
.tensor y   dram f32 [24, 8] at 4864 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor yt  sbuf f32 [4, 8] at 0:4, 32 scratch
.engine sp
    ld   r1, n
    mov  r3, 0
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    dma  q0, xt[4*4], x+r3{4*32}[4*4] ^s1
    dma  q1, xt+16[4*4], x+16+r3{4*32}[4*4] ^s2
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
    wait ?s1>=1
    ts   yt[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0 ?s2>=1 ^s3
    add  r2, r2, 1
    br   loop
done:
    sync
    halt
.engine act
    ld   r1, n
    mov  r3, 0
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    dma  q2, y+r3{4*32}[8*4], yt[8*4] ?s3>=1
    add  r3, r3, 4*32
    add  r2, r2, 1
    br   loop
done:
    sync
    halt
