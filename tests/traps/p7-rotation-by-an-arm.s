; trap: 7.2. The slot index advances in an arm only: the arm's executions
;       rotate, not the loop's iterations.
; expect: rewritten
; barriers: 1
; wrong: race late copy r.r8, w

.isa tile64
.kernel "p7-rotation-by-an-arm"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 7 words 6
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
.engine dve
    ld r1, n
    mov r8, 0
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    copy r+r8, w
    sync 2
    sync 3
    and r7, r4, 2
    br.eq r7, 0, join2
    sync 4
    xor r8, r8, 4
join2:
    add r4, r4, 1
    br loop1
done1:
    sync 5
    halt
.engine act
    ld r1, n
    mov r8, 0
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    sync 2
    copy b, r+r8
    sync 3
    and r7, r4, 2
    br.eq r7, 0, join2
    sync 4
    xor r8, r8, 4
join2:
    add r4, r4, 1
    br loop1
done1:
    sync 5
    halt
