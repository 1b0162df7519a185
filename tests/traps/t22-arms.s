; trap: T22. One of two arms runs; engines lay them out in different order,
;       and what one arm owes the other is always older.
; expect: rewritten
; barriers: 1
; wrong: race drop copy a, b
; wrong: race drop copy d, a
; wrong: race drop copy b, a

.isa tile64
.kernel "t22-arms"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 6 words 5
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor d sbuf f32 [1, 4] at 0:1, 64 scratch
.engine dve
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    and r7, r4, 2
    br.ne r7, 0, else2
    sync 2
    copy a, w
    sync 3
    br join2
else2:
    sync 4
    sync 5
    copy d, a
join2:
    sync 6
    add r4, r4, 1
    br loop1
done1:
    sync 7
    halt
.engine act
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    and r7, r4, 2
    br.eq r7, 0, then2
    sync 4
    copy a, b
    sync 5
    br join2
then2:
    sync 2
    sync 3
    copy b, a
join2:
    sync 6
    add r4, r4, 1
    br loop1
done1:
    sync 7
    halt
