; trap: C2'. It says that all earlier waits of the engine have held.
; expect: rewritten
; barriers: 1
; waits: 2
; wrong: race drop nop
; wrong: race drop copy b, a

.isa tile64
.kernel "c2-earlier-wait"
.queue q0 sp
.queue q1 act
.queue q2 sp
.tensor x dram f32 [64] at 4096 input
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor d sbuf f32 [1, 4] at 0:1, 64 scratch
.engine sp
    nop ?s1>=1
    dma q0, d, x ^s0
    sync 1
    halt
.engine dve
    copy a, w ^s1
    sync 1
    halt
.engine act
    copy b, a ?s0>=1
    sync 1
    halt
