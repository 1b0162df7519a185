; trap: 6. A loop of one engine ends an arm: its marker stands where the arm
;       joins other code, and only who comes from the arm may run it.
; expect: rewritten
; barriers: 1
; wrong: race late copy b, r
; wrong: hang early copy b, r
; wrong: race sed :a;N;$!ba;s/\(br.ne r7, 0, \)done3\(.*br.ge r5, r2, \)\(@[\
;   0-9]*\)/\1\3\2\3/

.isa tile64
.kernel "p6-private-ends-arm"
.queue q0 sp
.queue q1 act
.queue q2 sp
.tensor n dram i32 [1] at 0 input range 0 6 words 5
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
    and r7, r4, 2
    br.ne r7, 0, join2
    sync 2
    mov r5, 0
loop3:
    br.ge r5, r2, done3
    mul r7, r5, 4
    dma q0, r+r7, x+r7
    add r5, r5, 1
    br loop3
done3:
join2:
    sync 3
    add r4, r4, 1
    br loop1
done1:
    sync 4
    halt
.engine act
    ld r1, n
    ld r2, m
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    sync 1
    and r7, r4, 2
    br.ne r7, 0, join2
    sync 2
join2:
    sync 3
    copy b, r
    add r4, r4, 1
    br loop1
done1:
    sync 4
    halt
