; case: tilelang-ascend #1824. The order between producer and consumer stands
;       inside a conditional as well; where it is not taken, the consumer must
;       wait on its own.
; kind: MISS
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "order-in-one-arm"
.queue q0 sp
.tensor c   dram i32 [1] at 0 input range 0 1 words 0
.tensor x   dram f32 [4, 8] at 4096 input
.tensor y   dram f32 [4, 8] at 4224 output
.tensor xt  sbuf f32 [4, 8] at 0:4, 0 scratch
.tensor pt  sbuf f32 [4, 8] at 0:4, 32 scratch
.tensor bt  sbuf f32 [4, 8] at 0:4, 64 scratch
.tensor yt  sbuf f32 [4, 8] at 0:4, 96 scratch
.engine sp
    ld   r1, c
    dma  q0, xt[8*4], x{4*32}[8*4]
    sync
    sync
    dma  q0, y{4*32}[8*4], yt[8*4] ?s2>=1
    sync
    halt
.engine dve
    ld   r1, c
    sync
    br.eq r1, 0, skip
    ts   pt[8*4], xt[8*4] op0=mul imm0=2.0 op1=none imm1=0 ^s1
skip:
    br.ne r1, 0, skip2
    ts   pt[8*4], xt[8*4] op0=mul imm0=3.0 op1=none imm1=0
skip2:
    sync
    sync
    halt
.engine act
    ld   r1, c
    sync
    br.eq r1, 0, skip
    act  bt[8*4], pt[8*4] func=square scale=1.0 bias=0.0 ?s1>=1
skip:
    sync
    act  yt[8*4], pt[8*4] func=square scale=1.0 bias=0.0 ^s2
    sync
    halt
