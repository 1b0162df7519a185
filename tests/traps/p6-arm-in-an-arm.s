; trap: 6. Counts go on in an arm of an arm: its wait names the update in its
;       own arm, behind those of the arms around it.
; expect: rewritten
; barriers: 1
; wrong: race drop copy b.8, r.8
; wrong: race drop copy r.8, w

.isa tile64
.kernel "p6-arm-in-an-arm"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 4
.tensor m dram i32 [4] at 512 input range 0 1 words 1, 0, 1, 1
.tensor k dram i32 [4] at 576 input range 0 1 words 1, 0, 1, 0
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor b sbuf f32 [1, 8] at 0:1, 32 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
.engine dve
    ld r1, n
    mov r4, 0
loop:
    br.ge r4, r1, done
    sync 1
    shl r7, r4, 2
    ld r9, m+r7
    ld r10, k+r7
    copy r+0, w ^s0
    br.eq r9, 0, x
    copy r+4, w ^s0
    br.eq r10, 0, x
    copy r+8, w ^s0
x:
    add r4, r4, 1
    br loop
done:
    sync 9
    halt
.engine act
    ld r1, n
    mov r4, 0
loop:
    br.ge r4, r1, done
    sync 1
    shl r7, r4, 2
    ld r9, m+r7
    ld r10, k+r7
    copy b+0, r+0 ?s0>=1
    br.eq r9, 0, x
    copy b+4, r+4 ?s0>=2
    br.eq r10, 0, x
    copy b+8, r+8 ?s0>=3
x:
    add r4, r4, 1
    br loop
done:
    sync 9
    halt
