; trap: T28. Sums in PSUM are in order by themselves, but not with who reads
;       them.
; expect: rewritten
; barriers: 1
; wrong: race drop copy d, z
; wrong: race drop mm z, w

.isa tile64
.kernel "t28-accumulate"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor d sbuf f32 [1, 4] at 0:1, 64 scratch
.tensor z psum f32 [1, 4] at 0:1, 0 scratch
.engine act
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    sync 2
    sync 3
    copy d, z
    sync 4
    add r4, r4, 1
    br loop1
done1:
    sync 5
    halt
.engine pe
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    ldw w
    mm z, w
    sync 2
    mm z !acc, w
    sync 3
    sync 4
    add r4, r4, 1
    br loop1
done1:
    sync 5
    halt
