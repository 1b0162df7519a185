; trap: T28. A step backwards reaches below its start; a broadcast reads one
;       element.
; expect: rewritten
; barriers: 1
; waits: 2
; wrong: race drop copy b, r
; wrong: race drop copy r, w

.isa tile64
.kernel "t28-backwards"
.queue q1 act
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
.engine dve
    copy r+12[4*-4], w[4*0]
    sync 1
    sync 2
    sync 3
    halt
.engine act
    sync 1
    copy b, r
    sync 2
    sync 3
    halt
.engine pool
    sync 1
    sync 2
    copy r, w
    sync 3
    halt
