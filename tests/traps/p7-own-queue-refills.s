; trap: 7.3. A load queue refills a slot; a reader that may not run tells it
;       of nothing, so it waits for its own transfer, too.
; expect: rewritten
; barriers: 1
; wrong: race drop dma q0, r.r7
; wrong: race late dma q0, r.r7

.isa tile64
.kernel "p7-own-queue-refills"
.queue q0 sp
.queue q1 act
.queue q2 sp
.tensor n dram i32 [1] at 0 input range 0 7 words 6
.tensor x dram f32 [64] at 4096 input
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
.engine sp
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    and r7, r4, 1
    mul r7, r7, 4
    dma q0, r+r7, x
    sync 2
    and r8, r4, 2
    br.ne r8, 0, join2
    sync 3
join2:
    add r4, r4, 1
    br loop1
done1:
    sync 4
    halt
.engine act
    ld r1, n
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    and r7, r4, 1
    mul r7, r7, 4
    sync 2
    and r8, r4, 2
    br.ne r8, 0, join2
    sync 3
    copy b, r+r7
join2:
    add r4, r4, 1
    br loop1
done1:
    sync 4
    halt
