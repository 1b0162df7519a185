; case: PTOAS #428. The consumer of iteration t waits for the producer of t-1,
;       so the first one must pass at once. Four such pairs, four semaphores
;       in all.
; kind: HANG
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "first-iteration"
.owned 0, 3
.queue q0 sp
.tensor n   dram i32 [1] at 0 input range 0 5 words 3
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y0  dram f32 [4, 8] at 4224 output
.tensor y1  dram f32 [4, 8] at 4352 output
.tensor y2  dram f32 [4, 8] at 4480 output
.tensor y3  dram f32 [4, 8] at 4608 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor c0  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor c1  sbuf f32 [4, 8] at 0:4, 64 scratch
.tensor c2  sbuf f32 [4, 8] at 0:4, 96 scratch
.tensor c3  sbuf f32 [4, 8] at 0:4, 128 scratch
.tensor d0  sbuf f32 [4, 8] at 0:4, 160 scratch
.tensor d1  sbuf f32 [4, 8] at 0:4, 192 scratch
.tensor d2  sbuf f32 [4, 8] at 0:4, 224 scratch
.tensor d3  sbuf f32 [4, 8] at 0:4, 256 scratch
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
    dma  q0, y0{4*32}[8*4], c0[8*4]
    dma  q0, y1{4*32}[8*4], c1[8*4]
    dma  q0, y2{4*32}[8*4], c2[8*4]
    dma  q0, y3{4*32}[8*4], c3[8*4]
    sync
    halt
.engine dve
    ld   r1, n
    sync
    memset c0[8*4] value=0
    memset c1[8*4] value=0
    memset c2[8*4] value=0
    memset c3[8*4] value=0
    mov  r2, 0
loop:
    br.ge r2, r1, done
    sync
    ts   c0[8*4], xt[8*4] op0=mul imm0=0.5 op1=none imm1=0 ?s0>=1
    ts   c1[8*4], xt[8*4] op0=mul imm0=1.5 op1=none imm1=0 ?s1>=1
    ts   c2[8*4], xt[8*4] op0=mul imm0=2.5 op1=none imm1=0 ?s2>=1
    ts   c3[8*4], xt[8*4] op0=mul imm0=3.5 op1=none imm1=0 ?s3>=1
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
    act  d0[8*4], c0[8*4] func=square scale=1.0 bias=0.0 ^s0
    act  d1[8*4], c1[8*4] func=square scale=1.0 bias=0.0 ^s1
    act  d2[8*4], c2[8*4] func=square scale=1.0 bias=0.0 ^s2
    act  d3[8*4], c3[8*4] func=square scale=1.0 bias=0.0 ^s3
    add  r2, r2, 1
    br   loop
done:
    sync
    sync
    halt
