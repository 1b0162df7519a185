; trap: C3. A no-op of the pipeline speaks for no queue: the marker behind a
;       loop of transfers goes through their queue.
; expect: rewritten
; barriers: 1
; wrong: race sed s/^ *qnop q0/    nop/
; wrong: race late copy b, r
; right: sed :a;N;$!ba;s/\(dma q0, r[^\n]*.s\)\([0-9]*\)\([^\n]*\
;   \n.*\)qnop q0 \(.s[0-9]*\)/\1\2\3add r20, r3, 0\n    nop ?s\2>=r20\
;   \n    nop \4/

.isa tile64
.kernel "c3-marker-of-a-queue"
.queue q0 sp
.queue q1 act
.queue q2 sp
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor m dram i32 [1] at 64 input range 0 4 words 2
.tensor x dram f32 [64] at 4096 input
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
.engine sp
    ld r1, n
    ld r2, m
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    mov r5, 0
loop2:
    br.ge r5, r2, done2
    mul r7, r5, 4
    dma q0, r+r7, x+r7
    add r5, r5, 1
    br loop2
done2:
    sync 2
    add r4, r4, 1
    br loop1
done1:
    sync 3
    halt
.engine act
    ld r1, n
    ld r2, m
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    sync 2
    copy b, r
    add r4, r4, 1
    br loop1
done1:
    sync 3
    halt
