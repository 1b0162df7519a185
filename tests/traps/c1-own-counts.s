; trap: C1, repaired: a semaphore for each channel.
; expect: rewritten
; barriers: 1
; waits: 1
; wrong: race drop copy b, a

.isa tile64
.kernel "c1-own-counts"
.queue q0 sp
.queue q1 act
.queue q2 sp
.tensor x dram f32 [64] at 4096 input
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor d sbuf f32 [1, 4] at 0:1, 64 scratch
.engine sp
    mov r7, 5
    st a, r7 ^s0
    dma q0, d, x ^s1
    sync 1
    halt
.engine act
    copy b, a ?s0>=1
    sync 1
    halt
