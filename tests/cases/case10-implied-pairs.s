; case: PTOAS #1569. Twelve pairs of producer and consumer, nine of them
;       implied by program order, eight semaphores: no barrier may stay for
;       want of semaphores.
; kind: OVER
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "implied-pairs"
.owned 0, 7
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 5 words 3
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor p0  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor p1  sbuf f32 [4, 8] at 0:4, 64 scratch
.tensor p2  sbuf f32 [4, 8] at 0:4, 96 scratch
.tensor p3  sbuf f32 [4, 8] at 0:4, 128 scratch
.tensor p4  sbuf f32 [4, 8] at 0:4, 160 scratch
.tensor p5  sbuf f32 [4, 8] at 0:4, 192 scratch
.tensor p6  sbuf f32 [4, 8] at 0:4, 224 scratch
.tensor p7  sbuf f32 [4, 8] at 0:4, 256 scratch
.tensor p8  sbuf f32 [4, 8] at 0:4, 288 scratch
.tensor p9  sbuf f32 [4, 8] at 0:4, 320 scratch
.tensor p10 sbuf f32 [4, 8] at 0:4, 352 scratch
.tensor p11 sbuf f32 [4, 8] at 0:4, 384 scratch
.tensor c0  sbuf f32 [4, 8] at 0:4, 416 scratch
.tensor c1  sbuf f32 [4, 8] at 0:4, 448 scratch
.tensor c2  sbuf f32 [4, 8] at 0:4, 480 scratch
.tensor c3  sbuf f32 [4, 8] at 0:4, 512 scratch
.tensor c4  sbuf f32 [4, 8] at 0:4, 544 scratch
.tensor c5  sbuf f32 [4, 8] at 0:4, 576 scratch
.tensor c6  sbuf f32 [4, 8] at 0:4, 608 scratch
.tensor c7  sbuf f32 [4, 8] at 0:4, 640 scratch
.tensor c8  sbuf f32 [4, 8] at 0:4, 672 scratch
.tensor c9  sbuf f32 [4, 8] at 0:4, 704 scratch
.tensor c10 sbuf f32 [4, 8] at 0:4, 736 scratch
.tensor c11 sbuf f32 [4, 8] at 0:4, 768 scratch
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
    dma  q0, y{4*32}[8*4], p11[8*4]
    sync
    halt
.engine dve
    ld   r1, n
    memset p11[8*4] value=0
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    ts   p0[8*4], xt[8*4] op0=mul imm0=0.0 op1=none imm1=0
    ts   p1[8*4], xt[8*4] op0=mul imm0=1.0 op1=none imm1=0
    ts   p2[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0
    ts   p3[8*4], xt[8*4] op0=mul imm0=3.0 op1=none imm1=0 ^s0
    ts   p4[8*4], xt[8*4] op0=mul imm0=4.0 op1=none imm1=0
    ts   p5[8*4], xt[8*4] op0=mul imm0=5.0 op1=none imm1=0
    ts   p6[8*4], xt[8*4] op0=mul imm0=6.0 op1=none imm1=0
    ts   p7[8*4], xt[8*4] op0=mul imm0=7.0 op1=none imm1=0 ^s0
    ts   p8[8*4], xt[8*4] op0=mul imm0=8.0 op1=none imm1=0
    ts   p9[8*4], xt[8*4] op0=mul imm0=9.0 op1=none imm1=0
    ts   p10[8*4], xt[8*4] op0=mul imm0=10.0 op1=none imm1=0
    ts   p11[8*4], xt[8*4] op0=mul imm0=11.0 op1=none imm1=0 ^s0
    add  r2, r2, 1
    br   loop
done:
    sync
    sync
    halt
.engine act
    ld   r1, n
    sync
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    act  c0[8*4], p0[8*4] func=square scale=1.0 bias=0.0 ?s0>=1
    act  c1[8*4], p1[8*4] func=square scale=1.0 bias=0.0
    act  c2[8*4], p2[8*4] func=square scale=1.0 bias=0.0
    act  c3[8*4], p3[8*4] func=square scale=1.0 bias=0.0
    act  c4[8*4], p4[8*4] func=square scale=1.0 bias=0.0 ?s0>=2
    act  c5[8*4], p5[8*4] func=square scale=1.0 bias=0.0
    act  c6[8*4], p6[8*4] func=square scale=1.0 bias=0.0
    act  c7[8*4], p7[8*4] func=square scale=1.0 bias=0.0
    act  c8[8*4], p8[8*4] func=square scale=1.0 bias=0.0 ?s0>=3
    act  c9[8*4], p9[8*4] func=square scale=1.0 bias=0.0
    act  c10[8*4], p10[8*4] func=square scale=1.0 bias=0.0
    act  c11[8*4], p11[8*4] func=square scale=1.0 bias=0.0
    add  r2, r2, 1
    br   loop
done:
    sync
    sync
    halt
