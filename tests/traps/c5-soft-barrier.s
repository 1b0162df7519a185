; trap: C5. Barriers by counting: one count for all arrivals is right only
;       while everybody waits at each of them.
; expect: rewritten
; barriers: 1

.isa tile64
.kernel "c5-soft-barrier"
.queue q1 act
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor c sbuf f32 [1, 4] at 0:1, 48 scratch
.engine dve
    sync 1
    sync 2
    copy c, b
    sync 3
    halt
.engine act
    sync 1
    copy b, a
    sync 2
    sync 3
    halt
.engine pool
    copy a, w
    sync 1
    sync 2
    sync 3
    halt
