; trap: T4. Slots by the outermost of three loops: "not in the first
;       iteration" of the innermost one says nothing about whether the slot
;       was used in this iteration of the outermost.
; expect: rewritten
; barriers: 1
; wrong: race mask r6 0 copy r.r7, w
; wrong: race drop copy b, r

.isa tile64
.kernel "t04-rotated-by-outer"
.queue q1 act
.tensor n dram i32 [1] at 0 input range 0 4 words 3
.tensor m dram i32 [1] at 64 input range 0 4 words 2
.tensor k dram i32 [1] at 128 input range 0 3 words 2
.tensor w sbuf f32 [1, 4] at 0:1, 0 scratch
.tensor b sbuf f32 [1, 4] at 0:1, 32 scratch
.tensor r sbuf f32 [1, 16] at 0:1, 128 scratch
.engine dve
    ld r1, n
    ld r2, m
    ld r3, k
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    and r7, r4, 1
    mul r7, r7, 4
    mov r5, 0
loop2:
    br.ge r5, r2, done2
    mov r6, 0
loop3:
    br.ge r6, r3, done3
    sync 1
    copy r+r7, w ^s0
    add r6, r6, 1
    br loop3
done3:
    add r5, r5, 1
    br loop2
done2:
    add r4, r4, 1
    br loop1
done1:
    sync 2
    halt
.engine act
    ld r1, n
    ld r2, m
    ld r3, k
    mov r4, 0
loop1:
    br.ge r4, r1, done1
    and r7, r4, 1
    mul r7, r7, 4
    mov r5, 0
loop2:
    br.ge r5, r2, done2
    mov r6, 0
loop3:
    br.ge r6, r3, done3
    sync 1
    copy b, r+r7 ?s0>=1
    add r6, r6, 1
    br loop3
done3:
    add r5, r5, 1
    br loop2
done2:
    add r4, r4, 1
    br loop1
done1:
    sync 2
    halt
