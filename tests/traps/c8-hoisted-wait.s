; trap: C8. The wait for what stands in front of the loop holds in all of it,
;       although its channel goes on in the loop.
; expect: rewritten
; barriers: 1
; wrong: race drop copy b, a
; right: sed /^ *wait ?s[0-9]*>=1/d\
;   ; /^.engine \(act\|gen\)/,/^.engine/{s/^ *mov r4, 0/    wait ?s0>=1\n&/}

.isa tile64
.kernel "c8-hoisted-wait"
.queue q0 sp
.queue q1 act
.queue q2 sp
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor x dram f32 [64] at 4096 input
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor d sbuf f32 [1, 4] at 0:1, 64 scratch
.engine sp
    ld r1, n
    dma q0, a, x
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    dma q0, d, x
    sync 2
    add r4, r4, 1
    br loop1
done1:
    sync 3
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
    halt
