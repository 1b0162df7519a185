; trap: T7. An engine overlaps its own work; the barrier drained it. Both the
;       write in the next iteration and the read behind the loops wait for it.
; expect: rewritten
; barriers: 1
; waits: 2
; wrong: race drop copy a, w
; wrong: race drop copy b, a

.isa tile64
.kernel "t07-same-engine"
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor m dram i32 [1] at 64 input range 0 4 words 2
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.engine dve
    ld r1, n
    ld r2, m
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    mov r5, 0
loop2:
    br.ge r5, r2, done2
    sync 1
    copy a, w
    add r5, r5, 1
    br loop2
done2:
    add r4, r4, 1
    br loop1
done1:
    sync 2
    copy b, a
    sync 3
    halt
