; trap: T13. An instruction of which nobody knows what it does was behind all
;       in front of a barrier: both barriers around it stay.
; expect: rewritten
; rewrite: --soft-barriers=never
; barriers: 3
; wrong: race unsync 2
; wrong: race unsync 3

.isa tile64
.kernel "t13-unknown-effects"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor c sbuf f32 [1, 4] at 0:1, 48 scratch
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
    sync 3
    sync 4
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
    sync 3
    copy c, b
    sync 4
    halt
.engine pool
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    add r4, r4, 1
    br loop1
done1:
    sync 2
    custom code=7
    sync 3
    sync 4
    halt
