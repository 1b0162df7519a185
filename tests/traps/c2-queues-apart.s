; trap: C2 behind barriers: each reader waits for the channel that wrote.
; expect: rewritten
; barriers: 1
; wrong: race sed s/\(copy b, a\) ?s[0-9]*>=/\1 ?s9>=/\
;   ; s/\(dma q0, d, x\)\( ^s[0-9]*\)*/\1 ^s9/
; wrong: race drop copy b, a
; wrong: race drop copy c, e

.isa tile64
.kernel "c2-queues-apart"
.queue q0 sp
.queue q1 act
.queue q2 sp
.tensor x dram f32 [64] at 4096 input
.tensor a sbuf f32 [1, 4] at 0:1, 16 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor c sbuf f32 [1, 4] at 0:1, 48 scratch
.tensor d sbuf f32 [1, 4] at 0:1, 64 scratch
.tensor e sbuf f32 [1, 1] at 0:1, 320 scratch
.engine sp
    mov r7, 5
    dma q2, a, x
    dma q0, d, x
    st e, r7
    sync 1
    sync 2
    halt
.engine dve
    sync 1
    copy c, e
    sync 2
    halt
.engine act
    sync 1
    copy b, a
    sync 2
    halt
