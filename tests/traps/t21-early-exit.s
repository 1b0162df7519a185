; trap: T21. What stands in front of the way out runs once more than what
;       stands behind it: two counts.
; expect: rewritten
; barriers: 1
; wrong: race late copy b, a
; wrong: hang early copy b, a
; wrong: race late copy d, c
; wrong: hang early copy d, c

.isa tile64
.kernel "t21-early-exit"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 5 words 4
.tensor m dram i32 [1] at 64 input range 0 5 words 2
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor c sbuf f32 [1, 4] at 0:1, 48 scratch
.tensor d sbuf f32 [1, 4] at 0:1, 64 scratch
.engine dve
    ld r1, n
    ld r2, m
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    copy a, w
    br.eq r4, r2, out
    sync 2
    copy c, w
    add r4, r4, 1
    br loop1
done1:
    sync 3
    br join
out:
    sync 20
join:
    sync 4
    halt
.engine act
    ld r1, n
    ld r2, m
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    br.eq r4, r2, out
    sync 2
    add r4, r4, 1
    br loop1
done1:
    sync 3
    br join
out:
    sync 20
join:
    copy b, a
    copy d, c
    sync 4
    halt
