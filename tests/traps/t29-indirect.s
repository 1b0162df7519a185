; trap: T29. Which rows an indirect transfer writes, nobody knows: any of
;       them.
; expect: rewritten
; barriers: 1
; waits: 1
; wrong: race drop dma q1

.isa tile64
.kernel "t29-indirect"
.queue q0 sp
.queue q1 act
.queue q2 sp
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor z dram f32 [8] at 8192 output
.tensor q sbuf i32 [1, 1] at 0:1, 300 scratch
.engine sp
    dmas q0, z{8*4}, w, q:i32
    sync 1
    sync 2
    halt
.engine act
    sync 1
    dma q1, a, z+28
    sync 2
    halt
