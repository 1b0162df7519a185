; trap: T28. Partitions 0..1 and 2..3 never meet, 1..2 meets both.
; expect: rewritten
; barriers: 1
; waits: 2
; wrong: race drop copy v.1:2.

.isa tile64
.kernel "t28-partitions"
.queue q1 act
.tensor u sbuf f32 [4, 1] at 0:4, 256 scratch
.tensor v sbuf f32 [4, 1] at 0:4, 260 scratch
.engine dve
    copy v{0:2}, u{0:2}
    sync 1
    sync 2
    sync 3
    halt
.engine act
    sync 1
    copy v{2:2}, u{2:2}
    sync 2
    sync 3
    halt
.engine pool
    sync 1
    sync 2
    copy v{1:2}, u{1:2}
    sync 3
    halt
