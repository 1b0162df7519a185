; trap: 5. A running total over arms of different length advances by what the
;       arm taken holds; behind them at least the shorter one has passed.
; expect: rewritten
; barriers: 1
; rewrite: --scheme=running-total --registers=3
; wrong: race drop copy b, a
; wrong: hang early copy b, a

.isa tile64
.kernel "p5-unequal-arms"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 6 words 5
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor c sbuf f32 [1, 4] at 0:1, 48 scratch
.tensor d sbuf f32 [1, 4] at 0:1, 64 scratch
.engine dve
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    copy a, w
    and r7, r4, 1
    br.ne r7, 0, else2
    sync 2
    copy c, w
    sync 3
    copy c, w
    br join2
else2:
    sync 4
    copy d, w
join2:
    sync 5
    sync 6
    sync 7
    add r4, r4, 1
    br loop1
done1:
    sync 8
    halt
.engine act
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    and r7, r4, 1
    br.ne r7, 0, else2
    sync 2
    sync 3
    br join2
else2:
    sync 4
join2:
    sync 5
    copy b, a
    sync 6
    sync 7
    add r4, r4, 1
    br loop1
done1:
    sync 8
    halt
