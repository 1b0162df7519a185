; trap: C4''. It drains the pipeline, not the queues.
; expect: race

.isa tile64
.kernel "c4-load-and-queue"
.queue q0 sp
.queue q2 sp
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor x dram f32 [64] at 4096 input
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor d sbuf f32 [1, 4] at 0:1, 64 scratch
.engine sp
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    dma q0, a, x
    ld r8, d
    st a, r8
    add r4, r4, 1
    br loop1
done1:
    sync 2
    halt
