; trap: C6. Waits lead into a loop of one engine and out of it again: no order
;       of whole scopes exists although the kernel runs. Its barriers stay.
; expect: rewritten
; barriers: 3

.isa tile64
.kernel "c6-private-in-and-out"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor m dram i32 [1] at 64 input range 0 4 words 2
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor c sbuf f32 [1, 4] at 0:1, 48 scratch
.engine dve
    ld r1, n
    ld r2, m
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    copy a, w ^s2
    add r4, r4, 1
    br loop1
done1:
    sync 2
    mov r5, 0
loop2:
    nop ^s0
    nop ?s1>=1
    add r5, r5, 1
    br.lt r5, r2, loop2
    sync 3
    sync 4
    copy a, w
    sync 5
    halt
.engine act
    ld r1, n
    ld r2, m
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    copy b, a ?s2>=1
    add r4, r4, 1
    br loop1
done1:
    sync 2
    nop ?s0>=1 ^s1
    sync 3
    copy c, a
    sync 4
    sync 5
    halt
