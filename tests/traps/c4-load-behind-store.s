; trap: C4. A load may read before what its engine stored has landed.
; expect: race its own semaphore

.isa tile64
.kernel "c4-load-behind-store"
.queue q0 sp
.queue q2 sp
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.order sp hidden
.engine sp
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    mov r7, 5
    st a, r7
    ld r8, a
    st b, r8
    add r4, r4, 1
    br loop1
done1:
    sync 2
    halt
