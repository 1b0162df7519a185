; trap: T1. What only the barrier ordered: the read of one iteration, the
;       write of the next. Copying the waits of the input loses it.
; expect: rewritten
; barriers: 1
; waits: 2
; wrong: race drop copy a, w
; wrong: race late copy a, w

.isa tile64
.kernel "t01-barrier-only"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.engine dve
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    copy a, w ^s0
    add r4, r4, 1
    br loop1
done1:
    sync 2
    halt
.engine act
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    copy b, a ?s0>=1
    add r4, r4, 1
    br loop1
done1:
    sync 2
    halt
