; One count for all arrivals, where dve need not wait at the first: it arrives
; twice, and act goes on while pool has not arrived.
; expect: refuted: race
.isa tile64
.kernel "c5-soft-barrier"
.queue q1 act
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor c sbuf f32 [1, 4] at 0:1, 48 scratch
.engine dve
    nop ^s0
    nop ^s0
    wait ?s0>=6
    copy c, b
    sync 3
    halt
.engine act
    nop ^s0
    wait ?s0>=3
    copy b, a
    nop ^s0
    wait ?s0>=6
    sync 3
    halt
.engine pool
    copy a, w
    nop ^s0
    wait ?s0>=3
    nop ^s0
    wait ?s0>=6
    sync 3
    halt
