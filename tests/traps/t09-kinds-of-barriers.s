; trap: T9. Before the loop -> inside and, where it does not run, behind; from
;       one iteration to the next; from the last one -> behind; nothing is
;       left for the next launch.
; expect: rewritten
; barriers: 1
; wrong: race drop copy b, a
; wrong: race drop copy a, x?w
; wrong: race drop copy c, b
; wrong: leak unsync 4

.isa tile64
.kernel "t09-kinds-of-barriers"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor c sbuf f32 [1, 4] at 0:1, 48 scratch
.engine dve
    ld r1, n
    copy a, w
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    sync 2
    copy a, w
    add r4, r4, 1
    br loop1
done1:
    sync 3
    sync 4
    halt
.engine act
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    copy b, a
    sync 2
    add r4, r4, 1
    br loop1
done1:
    sync 3
    sync 4
    halt
.engine pool
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    sync 2
    add r4, r4, 1
    br loop1
done1:
    sync 3
    copy c, b
    sync 4
    halt
