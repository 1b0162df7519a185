; trap: 4.4. The trip count of the inner loop is loaded anew by each engine:
;       the writer waits for every one of them.
; expect: rewritten
; barriers: 1
; wrong: race drop dma q0, c
; wrong: race drop ld r8

.isa tile64
.kernel "p4-trip-count-reloaded"
.queue q0 sp
.queue q1 act
.queue q2 sp
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor c sbuf f32 [1, 4] at 0:1, 48 scratch
.tensor t dram i32 [5] at 256 input range 0 3 words 3, 0, 1, 2, 3
.engine sp
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    mul r7, r4, 4
    dma q0, c:i32, t+r7:i32
    sync 2
    ld r8, c:i32
    mov r5, 0
loop2:
    br.ge r5, r8, done2
    sync 3
    sync 4
    add r5, r5, 1
    br loop2
done2:
    sync 5
    add r4, r4, 1
    br loop1
done1:
    sync 6
    halt
.engine dve
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    sync 2
    ld r8, c:i32
    mov r5, 0
loop2:
    br.ge r5, r8, done2
    sync 3
    copy a, w
    sync 4
    add r5, r5, 1
    br loop2
done2:
    sync 5
    add r4, r4, 1
    br loop1
done1:
    sync 6
    halt
.engine act
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    sync 2
    ld r8, c:i32
    mov r5, 0
loop2:
    br.ge r5, r8, done2
    sync 3
    sync 4
    copy b, a
    add r5, r5, 1
    br loop2
done2:
    sync 5
    add r4, r4, 1
    br loop1
done1:
    sync 6
    halt
