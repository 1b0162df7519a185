; trap: C4'' behind a barrier: the store waits for the transfer.
; expect: rewritten
; barriers: 1
; waits: 1
; wrong: race drop st a

.isa tile64
.kernel "c4-load-and-queue-waits"
.queue q0 sp
.queue q2 sp
.tensor x dram f32 [64] at 4096 input
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor v dram i32 [1] at 512 input range 0 3 words 2
.engine sp
    dma q0, a, x
    ld r8, v
    sync 1
    st a, r8
    sync 2
    halt
