; trap: C4'. A load has retired before anything behind it issues: nothing is
;       owed.
; expect: rewritten
; barriers: 1
; waits: 0

.isa tile64
.kernel "c4-behind-a-load"
.queue q0 sp
.queue q2 sp
.tensor v dram i32 [1] at 512 input range 0 3 words 2
.engine sp
    ld r8, v
    sync 1
    st v, r8
    sync 2
    halt
