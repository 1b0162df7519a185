; trap: C4, repaired, and put into a loop: a store and a load of one engine.
; expect: rewritten
; barriers: 1
; wrong: race drop ld r8

.isa tile64
.kernel "c4-load-waits"
.queue q0 sp
.queue q2 sp
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor v sbuf i32 [1, 1] at 0:1, 300 scratch range 0 9
.order sp hidden
.engine sp
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    st v, r4
    sync 2
    ld r8, v
    st b, r8
    add r4, r4, 1
    br loop1
done1:
    sync 3
    halt
