; trap: C2, the other way round.
; expect: race

.isa tile64
.kernel "c2-pipeline-for-queue"
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
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    mov r7, 5
    dma q0, a, x
    st d, r7 ^s0
    add r4, r4, 1
    br loop1
done1:
    sync 2
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
    halt
