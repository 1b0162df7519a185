; trap: T28. Even and odd columns of one buffer have no byte in common.
; expect: rewritten
; barriers: 1
; waits: 0

.isa tile64
.kernel "t28-columns"
.queue q1 act
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
.engine dve
    copy r[2*8], w[2*4]
    sync 1
    sync 2
    halt
.engine act
    sync 1
    copy r+4[2*8], w[2*4]
    sync 2
    halt
