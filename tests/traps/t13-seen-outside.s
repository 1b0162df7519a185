; trap: T13. What others are told of is behind all that was stored in front of
;       the barrier, although no byte says so.
; expect: rewritten
; barriers: 1
; waits: 1
; wrong: race drop nop

.isa tile64
.kernel "t13-seen-outside"
.queue q1 act
.tensor y dram f32 [64] at 8192 output
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.engine act
    dma q1, y, w
    sync 1
    sync 2
    halt
.engine pool
    sync 1
    nop ^s200
    sync 2
    halt
