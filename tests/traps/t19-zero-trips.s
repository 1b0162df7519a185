; trap: T19. The write in a loop hides the one in front of it only if it runs.
; expect: rewritten
; barriers: 1
; waits: 4
; wrong: race one copy c, a
; wrong: race sed /^ *wait/{N;/copy c, a/s/^[^\n]*\n//}

.isa tile64
.kernel "t19-zero-trips"
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
    add r4, r4, 1
    br loop1
done1:
    sync 2
    sync 3
    halt
.engine act
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    copy a, b
    add r4, r4, 1
    br loop1
done1:
    sync 2
    sync 3
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
    copy c, a
    sync 3
    halt
