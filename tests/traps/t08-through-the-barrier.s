; trap: T8. A wait that followed from another through a barrier does not
;       follow without it.
; expect: rewritten
; barriers: 1
; waits: 2
; wrong: race drop copy c, a

.isa tile64
.kernel "t08-through-the-barrier"
.queue q1 act
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor c sbuf f32 [1, 4] at 0:1, 48 scratch
.engine dve
    copy a, w ^s0
    sync 1
    sync 2
    halt
.engine act
    copy b, a ?s0>=1
    sync 1
    sync 2
    halt
.engine pool
    sync 1
    copy c, a
    sync 2
    halt
